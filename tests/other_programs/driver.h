/* What the driver knows of an exported schedule; cases.c fills a table of these. */
#ifndef DRIVER_H
#define DRIVER_H

#include <mpi.h>

enum operation {
    GATHER,
    SCATTER,
    BROADCAST,
    REDUCE,
    ALLGATHER,
    REDUCE_SCATTER,
    ALLREDUCE,
    ALLTOALL,
    INTERGROUP_ALLGATHER
};

enum variant { STRICT, EAGER };

struct arguments {
    const void *input;
    void *output;
    const MPI_Aint *displacements;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

struct test_case {
    const char *name;
    enum operation operation;
    int processes;
    int root;
    /* Block sizes of gather, scatter and allgather, NULL for the others; then where blocks are by
       default; of a reduce-scatter, where blocks of the result are, and where the last one ends. */
    const long long *sizes;
    const MPI_Aint *displacements;
    /* The vector of broadcast and reductions. */
    long long bytes;
    /* Whether a reduction asks for a commutative operator. */
    int commutes;
    /* The messages of an alltoall, sender by sender; the blocks of an intergroup allgather; else NULL. */
    const long long *messages;
    /* The processes of the first group. */
    int group;
    int (*init)(enum variant variant, const struct arguments *arguments, void **request);
    int (*start)(void *request);
    int (*wait)(void *request);
    int (*test)(void *request, int *flag);
    /* Frees; SMPI has a macro of that name. */
    int (*release)(void **request);
};

extern const struct test_case test_cases[];
extern const int test_case_count;

/* Functions for the table, from those of an exported schedule. */
#define FUNCTIONS(name, ...)                                                                       \
    static int init_##name(                                                                        \
        enum variant variant, const struct arguments *arguments, void **request)                   \
    {                                                                                              \
        name##_request *made = NULL;                                                               \
        int error = variant == EAGER ? name##_init_eager(__VA_ARGS__, arguments->comm, &made)      \
                                     : name##_init(__VA_ARGS__, arguments->comm, &made);           \
        *request = made;                                                                           \
        return error;                                                                              \
    }                                                                                              \
    static int start_##name(void *request)                                                         \
    {                                                                                              \
        return name##_start(request);                                                              \
    }                                                                                              \
    static int wait_##name(void *request)                                                          \
    {                                                                                              \
        return name##_wait(request);                                                               \
    }                                                                                              \
    static int test_##name(void *request, int *flag)                                               \
    {                                                                                              \
        return name##_test(request, flag);                                                         \
    }                                                                                              \
    static int release_##name(void **request)                                                         \
    {                                                                                              \
        name##_request *made = *request;                                                           \
        int error = name##_free(&made);                                                            \
        *request = made;                                                                           \
        return error;                                                                              \
    }

#define GATHER_FUNCTIONS(name)                                                                     \
    FUNCTIONS(name, arguments->input, arguments->output, arguments->displacements)
#define SCATTER_FUNCTIONS(name) GATHER_FUNCTIONS(name)
#define ALLGATHER_FUNCTIONS(name) GATHER_FUNCTIONS(name)
#define BROADCAST_FUNCTIONS(name) FUNCTIONS(name, arguments->output)
#define REDUCE_FUNCTIONS(name)                                                                     \
    FUNCTIONS(name, arguments->input, arguments->output, arguments->type, arguments->op)
#define REDUCE_SCATTER_FUNCTIONS(name) REDUCE_FUNCTIONS(name)
#define ALLREDUCE_FUNCTIONS(name) REDUCE_FUNCTIONS(name)

#define ALLTOALL_FUNCTIONS(name) FUNCTIONS(name, arguments->input, arguments->output)
#define INTERGROUP_ALLGATHER_FUNCTIONS(name) ALLTOALL_FUNCTIONS(name)

#define OF(name) init_##name, start_##name, wait_##name, test_##name, release_##name

#endif
