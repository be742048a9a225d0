/* Nonblocking gathers and scatters: several under way at once, ended in other orders at each rank, with calls that wait
 * in between. Says how many numbers were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tuwtree_mpi.h>

enum { OPERATIONS = 6 };

static int rank, size, wrong;

static int value(int round, int number, int place) { return 10000 * round + 1000 * number + place; }

int main(int argc, char **argv)
{
    int round, number, i, k;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (round = 0; round < 20; round++) {
        tuwtree_request requests[OPERATIONS];
        int *own[OPERATIONS], *all[OPERATIONS], *counts = malloc(2 * (size_t)size * sizeof(int)), total = 0;
        int *displs = counts + size, flag = 0, code;
        for (i = 0; i < size; i++)
            counts[i] = (i + round) % 4, displs[i] = total, total += counts[i];
        for (number = 0; number < OPERATIONS; number++) {
            int root = (round + number) % size, is_gather = number % 2;
            own[number] = calloc(8, sizeof(int)), all[number] = calloc((size_t)total + 1, sizeof(int));
            for (i = 0; i < counts[rank] && is_gather; i++)
                own[number][i] = value(round, number, displs[rank] + i);
            for (i = 0; i < total && !is_gather && rank == root; i++)
                all[number][i] = value(round, number, i);
            if (is_gather)
                tuwtree_igatherv(own[number], counts[rank], MPI_INT, all[number], counts, displs, MPI_INT, root,
                                 MPI_COMM_WORLD, &requests[number]);
            else
                tuwtree_iscatterv(all[number], counts, displs, MPI_INT, own[number], counts[rank], MPI_INT, root,
                                  MPI_COMM_WORLD, &requests[number]);
        }
        {
            int *numbers = calloc((size_t)total + 1, sizeof(int));
            tuwtree_gatherv(own[1], counts[rank], MPI_INT, numbers, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
            for (i = 0; i < total && rank == 0; i++)
                wrong += numbers[i] != value(round, 1, i);
            free(numbers);
        }
        for (k = 0; k < OPERATIONS; k++) {
            number = rank % 2 ? OPERATIONS - 1 - k : k;
            if (round % 2)
                tuwtree_wait(&requests[number]);
            else
                for (flag = 0; !flag;)
                    tuwtree_test(&requests[number], &flag);
            wrong += requests[number] != TUWTREE_REQUEST_NULL;
        }
        for (number = 0; number < OPERATIONS; number++) {
            int root = (round + number) % size, is_gather = number % 2;
            for (i = 0; i < total && is_gather && rank == root; i++)
                wrong += all[number][i] != value(round, number, i);
            for (i = 0; i < counts[rank] && !is_gather; i++)
                wrong += own[number][i] != value(round, number, displs[rank] + i);
            free(own[number]), free(all[number]);
        }
        free(counts);
        /* What is wrong is said when the operation ends, and the next one is right. */
        if (round % 5 == 4 && size > 1) {
            int one = rank, got[64], ones[64], at[64];
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
            for (i = 0; i < size; i++)
                ones[i] = i == 1 ? 2 : 1, at[i] = 2 * i;
            tuwtree_igatherv(&one, 1, MPI_INT, got, ones, at, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
            code = tuwtree_start(&requests[0]);
            wrong += code == MPI_SUCCESS;
            code = tuwtree_wait(&requests[0]);
            wrong += rank == 0 && code == MPI_SUCCESS;
            wrong += requests[0] != TUWTREE_REQUEST_NULL;
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        }
    }
    printf("rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
