/* One collective operation with blocks of argv[2] bytes; prints how many microseconds it takes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, p;
  const char *op = argv[1];
  int c = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  char *in = calloc((size_t)c * p, 1), *out = calloc((size_t)c * p, 1);
  int *counts = malloc(p * sizeof(int));
  for (int i = 0; i < p; i++) counts[i] = c;
  double start = MPI_Wtime();
  if (!strcmp(op, "allgather")) MPI_Allgather(in, c, MPI_CHAR, out, c, MPI_CHAR, MPI_COMM_WORLD);
  if (!strcmp(op, "alltoall")) MPI_Alltoall(in, c, MPI_CHAR, out, c, MPI_CHAR, MPI_COMM_WORLD);
  if (!strcmp(op, "bcast")) MPI_Bcast(out, c * p, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (!strcmp(op, "allreduce")) MPI_Allreduce(in, out, c * p, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(op, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  /* The last end is told to rank 0 without a collective operation. */
  double end = MPI_Wtime();
  if (rank) {
    MPI_Send(&end, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
  } else {
    double other;
    for (int i = 1; i < p; i++) {
      MPI_Recv(&other, 1, MPI_DOUBLE, i, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (other > end) end = other;
    }
    printf("%.3f\n", (end - start) * 1e6);
  }
  MPI_Finalize();
  return 0;
}
