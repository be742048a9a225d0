/* One reduction, argv[1], of blocks of argv[2] and further bytes by an operator that does not commute, between two calls of
 * MPI_Pcontrol: what is sent is counted by whoever listens to these, or in the whole program. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* The composition of functions x -> a x + b on 0..16, a in the upper half of a byte, b in the lower: left after right. */
static unsigned char composed(unsigned char left, unsigned char right)
{
    unsigned a = left >> 4, b = left & 15, c = right >> 4, d = right & 15;
    return (unsigned char)(((a * c & 15) << 4) | ((a * d + b) & 15));
}

static void compose(void *left, void *inout, int *count, MPI_Datatype *datatype)
{
    int i;
    (void)datatype;
    for (i = 0; i < *count; i++)
        ((unsigned char *)inout)[i] = composed(((unsigned char *)left)[i], ((unsigned char *)inout)[i]);
}

static unsigned char input(int rank, int byte)
{
    return (unsigned char)(16 * (2 * rank + 3) + 7 * rank + byte);
}

int main(int argc, char **argv)
{
    int rank, size, i, other, first = 0, all = 0, here, wrong = 0, *counts;
    unsigned char *in, *out, expected;
    MPI_Op operator;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 + size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    counts = malloc((size_t)size * sizeof *counts);
    for (i = 0; i < size; i++) {
        counts[i] = atoi(argv[2 + i]);
        first += i < rank ? counts[i] : 0;
        all += counts[i];
    }
    in = malloc((size_t)all);
    out = malloc((size_t)all);
    for (i = 0; i < all; i++)
        in[i] = input(rank, i);
    MPI_Op_create(compose, 0, &operator);
    here = all;
    MPI_Pcontrol(1);
    if (!strcmp(argv[1], "reduce")) {
        MPI_Reduce(in, out, all, MPI_BYTE, operator, 0, MPI_COMM_WORLD);
        here = rank ? 0 : all;
        first = 0;
    } else if (!strcmp(argv[1], "allreduce")) {
        MPI_Allreduce(in, out, all, MPI_BYTE, operator, MPI_COMM_WORLD);
        first = 0;
    } else {
        MPI_Reduce_scatter(in, out, counts, MPI_BYTE, operator, MPI_COMM_WORLD);
        here = counts[rank];
    }
    MPI_Pcontrol(0);
    for (i = 0; i < here; i++) {
        expected = input(0, first + i);
        for (other = 1; other < size; other++)
            expected = composed(expected, input(other, first + i));
        wrong += out[i] != expected;
    }
    MPI_Op_free(&operator);
    free(counts);
    free(in);
    free(out);
    MPI_Finalize();
    /* Not by MPI_Abort: beside ranks that are in MPI_Finalize already, mpirun of Open MPI 4.1 sometimes never ends. */
    return wrong ? 3 : 0;
}
