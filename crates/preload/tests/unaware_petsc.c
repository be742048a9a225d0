/* A program of PETSc's that knows nothing of tuwtree: a vector of uneven parts goes to the first rank and back, which PETSc
 * does by MPI_Igatherv and MPI_Iscatterv, and then another one, of which all is on the last rank. Complains of every wrong
 * number. */
#include <petscvec.h>

static PetscInt wrong;

/* Ten times to the first rank and back. */
static void there_and_back(PetscInt part)
{
    PetscInt begin, end, i, round;
    PetscScalar *values;
    VecScatter scatter;
    Vec vector, whole;
    VecCreateMPI(PETSC_COMM_WORLD, part, PETSC_DETERMINE, &vector);
    VecScatterCreateToZero(vector, &scatter, &whole);
    VecGetOwnershipRange(vector, &begin, &end);
    for (round = 1; round <= 10; round++) {
        PetscInt length;
        VecGetArray(vector, &values);
        for (i = begin; i < end; i++)
            values[i - begin] = round * i;
        VecRestoreArray(vector, &values);
        VecScatterBegin(scatter, vector, whole, INSERT_VALUES, SCATTER_FORWARD);
        VecScatterEnd(scatter, vector, whole, INSERT_VALUES, SCATTER_FORWARD);
        VecGetLocalSize(whole, &length);
        VecGetArray(whole, &values);
        for (i = 0; i < length; i++) {
            wrong += values[i] != round * i;
            values[i] += 1;
        }
        VecRestoreArray(whole, &values);
        VecScatterBegin(scatter, whole, vector, INSERT_VALUES, SCATTER_REVERSE);
        VecScatterEnd(scatter, whole, vector, INSERT_VALUES, SCATTER_REVERSE);
        VecGetArray(vector, &values);
        for (i = begin; i < end; i++)
            wrong += values[i - begin] != round * i + 1;
        VecRestoreArray(vector, &values);
    }
    VecScatterDestroy(&scatter);
    VecDestroy(&whole);
    VecDestroy(&vector);
}

int main(int argc, char **argv)
{
    PetscMPIInt rank, size;
    PetscInt all = 0;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    there_and_back(10 + 100 * (rank % 3));
    there_and_back(rank == size - 1 ? 1000 : 0);
    MPI_Allreduce(&wrong, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    PetscPrintf(PETSC_COMM_WORLD, "twice 10 rounds, %d wrong\n", (int)all);
    PetscFinalize();
    return all != 0;
}
