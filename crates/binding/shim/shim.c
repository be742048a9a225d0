/* What only a C compiler can tell of an MPI library: constants that are macros with casts, and calls
 * that have other names, or none, in some libraries. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

extern const MPI_Datatype TUWTREE_BYTE;
extern void *const TUWTREE_IN_PLACE;
extern const int TUWTREE_COMBINER_NAMED;
extern const int TUWTREE_COMBINER_DUP;
extern const int TUWTREE_COMBINER_CONTIGUOUS;
extern const int TUWTREE_HAS_GATHERV_INIT;
extern const int TUWTREE_HAS_LARGE_COUNTS;

const MPI_Datatype TUWTREE_BYTE = MPI_BYTE;
void *const TUWTREE_IN_PLACE = MPI_IN_PLACE;
const int TUWTREE_COMBINER_NAMED = MPI_COMBINER_NAMED;
const int TUWTREE_COMBINER_DUP = MPI_COMBINER_DUP;
const int TUWTREE_COMBINER_CONTIGUOUS = MPI_COMBINER_CONTIGUOUS;

/* Open MPI 5 calls itself MPI 3.1, and has the persistent collectives of MPI 4. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define INIT(name, ...) PMPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
const int TUWTREE_HAS_GATHERV_INIT = 1;
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
/* Programs for Open MPI 4.1 run on 5, too, which has the same functions under their names of MPI 4. */
#define EITHER(name)                                                                               \
    __typeof__(PMPIX_##name##_init) PMPIX_##name##_init __attribute__((weak));                     \
    __typeof__(PMPIX_##name##_init) PMPI_##name##_init __attribute__((weak));
EITHER(Gatherv)
EITHER(Scatterv)
EITHER(Allgatherv)
EITHER(Reduce_scatter)
EITHER(Reduce_scatter_block)
EITHER(Alltoall)
EITHER(Alltoallv)
#define INIT(name, ...)                                                                            \
    (PMPIX_##name##_init ? PMPIX_##name##_init : PMPI_##name##_init)(__VA_ARGS__, MPI_INFO_NULL, request)
const int TUWTREE_HAS_GATHERV_INIT = 1;
#else
#define INIT(name, ...) MPI_ERR_OTHER
const int TUWTREE_HAS_GATHERV_INIT = 0;
#endif

/* Functions and forms of calls, numbered as in functions.rs. */
enum { GATHERV, SCATTERV, ALLGATHERV, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, ALLTOALL, ALLTOALLV };
enum { ONCE, START, INIT_PERSISTENT };

/* Send or receive parameters: a count, or lists of int or of MPI_Count and MPI_Aint. */
typedef struct {
    void *buffer;
    MPI_Count count;
    const void *counts, *displs;
    MPI_Datatype type;
} side;

int tuwtree_collective(int function, int form, int is_large, const side *from, const side *into,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Request *request);

#define ONE(N, side) side->buffer, (N)side->count, side->type
#define LISTED(N, D, side) side->buffer, (const N *)side->counts, (const D *)side->displs, side->type

/* All functions, by a macro that makes the forms of one. */
#define FUNCTIONS(FORMS, N, D)                                                                     \
    case GATHERV: FORMS(Gatherv, gatherv, ONE(N, from), LISTED(N, D, into), root, comm)            \
    case SCATTERV: FORMS(Scatterv, scatterv, LISTED(N, D, from), ONE(N, into), root, comm)         \
    case ALLGATHERV: FORMS(Allgatherv, allgatherv, ONE(N, from), LISTED(N, D, into), comm)         \
    case REDUCE_SCATTER:                                                                           \
        FORMS(Reduce_scatter, reduce_scatter, from->buffer, into->buffer, (const N *)into->counts, \
              into->type, op, comm)                                                                \
    case REDUCE_SCATTER_BLOCK:                                                                     \
        FORMS(Reduce_scatter_block, reduce_scatter_block, from->buffer, into->buffer,              \
              (N)into->count, into->type, op, comm)                                                \
    case ALLTOALL: FORMS(Alltoall, alltoall, ONE(N, from), ONE(N, into), comm)                     \
    case ALLTOALLV: FORMS(Alltoallv, alltoallv, LISTED(N, D, from), LISTED(N, D, into), comm)

#define INT_FORMS(name, lower, ...)                                                                \
    switch (form) {                                                                                \
    case ONCE: return PMPI_##name(__VA_ARGS__);                                                    \
    case START: return PMPI_I##lower(__VA_ARGS__, request);                                        \
    default: return INIT(name, __VA_ARGS__);                                                       \
    }

#if MPI_VERSION >= 4
const int TUWTREE_HAS_LARGE_COUNTS = 1;
#define LARGE_FORMS(name, lower, ...)                                                              \
    switch (form) {                                                                                \
    case ONCE: return PMPI_##name##_c(__VA_ARGS__);                                                \
    case START: return PMPI_I##lower##_c(__VA_ARGS__, request);                                    \
    default: return PMPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, request);                     \
    }
#else
const int TUWTREE_HAS_LARGE_COUNTS = 0;
#endif

/* Calls the MPI library; MPI_ERR_OTHER where it has no such call. */
int tuwtree_collective(int function, int form, int is_large, const side *from, const side *into,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    if (!is_large)
        switch (function) {
            FUNCTIONS(INT_FORMS, int, int)
        }
#if MPI_VERSION >= 4
    else
        switch (function) {
            FUNCTIONS(LARGE_FORMS, MPI_Count, MPI_Aint)
        }
#endif
    return MPI_ERR_OTHER;
}
