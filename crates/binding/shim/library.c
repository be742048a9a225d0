/* Which MPI library this is: only read by the build script, after the preprocessor. */
#include <mpi.h>
#ifdef MPI_ABI_VERSION
tuwtree_standard_abi
#endif
#ifdef OPEN_MPI
tuwtree_open_mpi
#if OMPI_MAJOR_VERSION < 6
tuwtree_fortran_calls_pmpi
#endif
#endif
#ifdef MPICH
tuwtree_f08_calls_pmpi
#endif
#if MPI_VERSION >= 4
tuwtree_has_large_counts
#endif
