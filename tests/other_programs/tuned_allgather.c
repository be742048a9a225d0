#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, p, bytes = atoi(argv[1]), repeats = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  char *in = malloc(bytes), *out = malloc((size_t)bytes * p);
  memset(in, 'a' + rank, bytes);
  for (int i = 0; i < repeats; i++) MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; repeats && i < bytes * p; i++) if (out[i] != 'a' + i / bytes) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
