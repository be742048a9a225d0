! A program that knows nothing of tuwtree, in Fortran: with mpif.h (MPIF_H), mpi, or mpi_f08 (MPI_F08). Does the same
! as unaware_mixed.c.
program unaware_mixed
#if defined(MPI_F08)
  use mpi_f08
#elif !defined(MPIF_H)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer :: rank, size, i, step, wrong, ierr
  integer, allocatable :: counts(:), displs(:)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  allocate (counts(size), displs(size))
  wrong = 0
  do step = 0, 9
    do i = 1, size
      counts(i) = 1 + mod(i - 1, 3)
    end do
    call there_and_back(size/2)
    counts = 0
    counts(size) = 5
    call there_and_back(0)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0, a, i0, a)', step, ' rounds, ', wrong, ' wrong'
  call MPI_Finalize(ierr)
  if (wrong /= 0) stop 3

contains
  ! To the root and back.
  subroutine there_and_back(root)
    integer, intent(in) :: root
    integer :: own(5), back(5), k, own_count
    integer, allocatable :: all(:)
    displs(1) = 0
    do k = 2, size
      displs(k) = displs(k - 1) + counts(k - 1)
    end do
    allocate (all(sum(counts)))
    own_count = counts(rank + 1)
    do k = 1, own_count
      own(k) = 1000*step + displs(rank + 1) + k
    end do
    call MPI_Gatherv(own, own_count, MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, ierr)
    do k = 1, sum(counts)
      if (rank == root .and. all(k) /= 1000*step + k) wrong = wrong + 1
    end do
    back = -1
    call MPI_Scatterv(all, counts, displs, MPI_INTEGER, back, own_count, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, ierr)
    if (any(back(:own_count) /= own(:own_count))) wrong = wrong + 1
  end subroutine there_and_back
end program unaware_mixed
