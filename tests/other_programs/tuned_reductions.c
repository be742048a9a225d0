/* Reductions of several sizes by an operator that does not commute, the product of 2 x 2 matrices (a b; 0 1): prints how many
 * results of how many ranks are wrong. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void multiply(void *left, void *inout, int *count, MPI_Datatype *datatype)
{
    uint32_t *x = left, *y = inout;
    (void)datatype;
    for (int i = 0; i < 2 * *count; i += 2) {
        y[i + 1] = x[i] * y[i + 1] + x[i + 1];
        y[i] *= x[i];
    }
}

int main(int argc, char **argv)
{
    int rank, p, wrong = 0, all;
    MPI_Op operator;
    MPI_Datatype matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Op_create(multiply, 0, &operator);
    MPI_Type_contiguous(2, MPI_UINT32_T, &matrix);
    MPI_Type_commit(&matrix);
    for (int block = 1; block <= 32768; block *= 32) {
        int count = block * p, *counts = malloc((size_t)p * sizeof *counts);
        size_t numbers = 2 * (size_t)count, bytes = numbers * sizeof(uint32_t);
        uint32_t *of_all = malloc(bytes * p), *product = malloc(bytes), *in = malloc(bytes), *out = malloc(bytes);
        for (size_t i = 0; i < numbers * p; i++)
            of_all[i] = ((uint32_t)i * 2654435761u + 12345u) | 1u;
        memcpy(in, of_all + numbers * rank, bytes);
        memcpy(product, of_all + numbers * (p - 1), bytes);
        for (int other = p - 2; other >= 0; other--)
            multiply(of_all + numbers * other, product, &count, &matrix);
        for (int i = 0; i < p; i++)
            counts[i] = block;
        size_t own = 2 * (size_t)block * rank, size = 2 * (size_t)block * sizeof(uint32_t);
        MPI_Reduce_scatter(in, out, counts, matrix, operator, MPI_COMM_WORLD);
        wrong += memcmp(out, product + own, size) != 0;
        MPI_Reduce_scatter_block(in, out, block, matrix, operator, MPI_COMM_WORLD);
        wrong += memcmp(out, product + own, size) != 0;
        MPI_Allreduce(in, out, count, matrix, operator, MPI_COMM_WORLD);
        wrong += memcmp(out, product, bytes) != 0;
        for (int root = 0; root < p; root += p - 1) {
            MPI_Reduce(in, out, count, matrix, operator, root, MPI_COMM_WORLD);
            wrong += rank == root && memcmp(out, product, bytes) != 0;
        }
        free(counts);
        free(of_all);
        free(product);
        free(in);
        free(out);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%d\n", all);
    MPI_Type_free(&matrix);
    MPI_Op_free(&operator);
    MPI_Finalize();
    return 0;
}
