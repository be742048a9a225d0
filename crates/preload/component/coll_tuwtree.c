/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * coll/tuwtree: a component for Open MPI's collectives that has gatherv, scatterv, allgatherv, reduce_scatter,
 * reduce_scatter_block, alltoallv and alltoall performed by libtuwtree_preload.so, without preloading it: PMPI stays for
 * profilers, and programs in C, Fortran and Python are served alike.
 *
 * The library is opened when the first communicator asks. Calls that it leaves to Open MPI, and those that it makes by
 * itself, go to the components that were selected before this one.
 */
#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* MPI's function, that of the module behind, and its parameters. */
#define CALLS(CALL)                                                                                                    \
    CALL(Gatherv, gatherv,                                                                                             \
         (const void *a, int b, struct ompi_datatype_t *c, void *d, const int *e, const int *f,                        \
          struct ompi_datatype_t *g, int h, struct ompi_communicator_t *comm, mca_coll_base_module_t *module),         \
         (a, b, c, d, e, f, g, h, comm), (a, b, c, d, e, f, g, h, comm, behind))                                       \
    CALL(Scatterv, scatterv,                                                                                           \
         (const void *a, const int *b, const int *c, struct ompi_datatype_t *d, void *e, int f,                        \
          struct ompi_datatype_t *g, int h, struct ompi_communicator_t *comm, mca_coll_base_module_t *module),         \
         (a, b, c, d, e, f, g, h, comm), (a, b, c, d, e, f, g, h, comm, behind))                                       \
    CALL(Allgatherv, allgatherv,                                                                                       \
         (const void *a, int b, struct ompi_datatype_t *c, void *d, const int *e, const int *f,                        \
          struct ompi_datatype_t *g, struct ompi_communicator_t *comm, mca_coll_base_module_t *module),                \
         (a, b, c, d, e, f, g, comm), (a, b, c, d, e, f, g, comm, behind))                                             \
    CALL(Reduce_scatter, reduce_scatter,                                                                               \
         (const void *a, void *b, const int *c, struct ompi_datatype_t *d, struct ompi_op_t *e,                        \
          struct ompi_communicator_t *comm, mca_coll_base_module_t *module),                                           \
         (a, b, c, d, e, comm), (a, b, c, d, e, comm, behind))                                                         \
    CALL(Reduce_scatter_block, reduce_scatter_block,                                                                   \
         (const void *a, void *b, int c, struct ompi_datatype_t *d, struct ompi_op_t *e,                               \
          struct ompi_communicator_t *comm, mca_coll_base_module_t *module),                                           \
         (a, b, c, d, e, comm), (a, b, c, d, e, comm, behind))                                                         \
    CALL(Alltoallv, alltoallv,                                                                                         \
         (const void *a, const int *b, const int *c, struct ompi_datatype_t *d, void *e, const int *f, const int *g,   \
          struct ompi_datatype_t *h, struct ompi_communicator_t *comm, mca_coll_base_module_t *module),                \
         (a, b, c, d, e, f, g, h, comm), (a, b, c, d, e, f, g, h, comm, behind))                                       \
    CALL(Alltoall, alltoall,                                                                                           \
         (const void *a, int b, struct ompi_datatype_t *c, void *d, int e, struct ompi_datatype_t *f,                  \
          struct ompi_communicator_t *comm, mca_coll_base_module_t *module),                                           \
         (a, b, c, d, e, f, comm), (a, b, c, d, e, f, comm, behind))

/* The functions of the module behind for a communicator, and who owns them. */
typedef struct {
    mca_coll_base_module_t super;
#define BEHIND(Name, name, parameters, ours, theirs)                                                                   \
    mca_coll_base_module_##name##_fn_t name;                                                                           \
    mca_coll_base_module_t *name##_module;
    CALLS(BEHIND)
} tuwtree_module_t;

/* The functions of the library. The last two parameters of Open MPI's are one of theirs less. */
static struct {
    int (*finish)(void);
#define OURS(Name, name, parameters, ours, theirs) int (*name)();
    CALLS(OURS)
} library;

static void construct(tuwtree_module_t *module)
{
#define EMPTY(Name, name, parameters, ours, theirs)                                                                    \
    module->name = NULL;                                                                                               \
    module->name##_module = NULL;
    CALLS(EMPTY)
}

static void destruct(tuwtree_module_t *module)
{
#define RELEASE(Name, name, parameters, ours, theirs)                                                                  \
    if (module->name##_module)                                                                                         \
        OBJ_RELEASE(module->name##_module);
    CALLS(RELEASE)
}

OBJ_CLASS_INSTANCE(tuwtree_module_t, mca_coll_base_module_t, construct, destruct);

static int priority = 95;
static char *file;

/* In a call of the library's: what it calls by itself is Open MPI's. */
static __thread int depth;

/* Once MPI is about to end, while all of its functions can be called. */
static int finishing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    depth++;
    library.finish();
    depth--;
    return MPI_SUCCESS;
}

/* What the library records is written at the end, which it hears of by an attribute. */
static void wait_for_the_end(void)
{
    static int key = MPI_KEYVAL_INVALID;
    if (key != MPI_KEYVAL_INVALID)
        return;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finishing, &key, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

#define PERFORM(Name, name, parameters, ours, theirs)                                                                  \
    static int tuwtree_##name parameters                                                                               \
    {                                                                                                                  \
        tuwtree_module_t *own = (tuwtree_module_t *)module;                                                            \
        mca_coll_base_module_t *behind = own->name##_module;                                                           \
        int code;                                                                                                      \
        if (depth > 0)                                                                                                 \
            return own->name theirs;                                                                                   \
        depth++;                                                                                                       \
        wait_for_the_end();                                                                                            \
        code = library.name ours;                                                                                      \
        depth--;                                                                                                       \
        return code;                                                                                                   \
    }
CALLS(PERFORM)

/* Keeps what has been selected so far. */
static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    tuwtree_module_t *own = (tuwtree_module_t *)module;
#define KEEP(Name, name, parameters, ours, theirs)                                                                     \
    own->name = comm->c_coll->coll_##name;                                                                             \
    own->name##_module = comm->c_coll->coll_##name##_module;                                                           \
    if (!own->name || !own->name##_module)                                                                             \
        return OMPI_ERR_NOT_FOUND;                                                                                     \
    OBJ_RETAIN(own->name##_module);
    CALLS(KEEP)
    return OMPI_SUCCESS;
}

/* Opens the library: that of the parameter, else the one beside this component, else where the system looks. */
static int opened(void)
{
    static int tried, found;
    Dl_info here;
    char beside[4096];
    void *handle = NULL;
    if (tried)
        return found;
    tried = 1;
    if (file && *file)
        handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    else if (dladdr((void *)opened, &here) && strrchr(here.dli_fname, '/')
             && snprintf(beside, sizeof beside, "%.*s/libtuwtree_preload.so",
                         (int)(strrchr(here.dli_fname, '/') - here.dli_fname), here.dli_fname)
                    < (int)sizeof beside)
        handle = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    if (!handle && !(file && *file))
        handle = dlopen("libtuwtree_preload.so", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "coll/tuwtree: not used: %s\n", dlerror());
        return 0;
    }
    library.finish = (int (*)(void))dlsym(handle, "MPIX_Tuwtree_finish");
    found = library.finish != NULL;
#define FIND(Name, name, parameters, ours, theirs)                                                                     \
    library.name = (int (*)())dlsym(handle, "MPI_" #Name);                                                             \
    found = found && library.name;
    CALLS(FIND)
    if (!found)
        fprintf(stderr, "coll/tuwtree: not used: the library is of another version\n");
    return found;
}

static mca_coll_base_module_t *query(struct ompi_communicator_t *comm, int *given)
{
    tuwtree_module_t *module;
    /* The library's own communicators are made in calls of its own. */
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || depth > 0 || priority < 0 || !opened())
        return NULL;
    module = OBJ_NEW(tuwtree_module_t);
    if (!module)
        return NULL;
    *given = priority;
    module->super.coll_module_enable = enable;
#define SET(Name, name, parameters, ours, theirs) module->super.coll_##name = tuwtree_##name;
    CALLS(SET)
    return &module->super;
}

static int init(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads, (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

static int register_parameters(void);

/* The interface of Open MPI 5, else that of 4. */
#ifndef MCA_COLL_BASE_VERSION_2_4_0
#define MCA_COLL_BASE_VERSION_2_4_0 MCA_COLL_BASE_VERSION_2_0_0
#endif

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_tuwtree_component;

const mca_coll_base_component_t mca_coll_tuwtree_component = {
    .collm_version = {
        MCA_COLL_BASE_VERSION_2_4_0,
        .mca_component_name = "tuwtree",
        MCA_BASE_MAKE_VERSION(component, 0, 2, 0),
        .mca_register_component_params = register_parameters,
    },
    .collm_data = { MCA_BASE_METADATA_PARAM_CHECKPOINT },
    .collm_init_query = init,
    .collm_comm_query = query,
};

static int register_parameters(void)
{
    (void)mca_base_component_var_register(&mca_coll_tuwtree_component.collm_version, "priority",
                                          "Priority of this component; below 0 it is not used",
                                          MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6,
                                          MCA_BASE_VAR_SCOPE_READONLY, &priority);
    (void)mca_base_component_var_register(&mca_coll_tuwtree_component.collm_version, "library",
                                          "File of libtuwtree_preload.so; if empty, that beside this component, else "
                                          "where the system looks for libraries",
                                          MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_6,
                                          MCA_BASE_VAR_SCOPE_READONLY, &file);
    return OMPI_SUCCESS;
}
