! A program that knows nothing of tuwtree, in Fortran: with mpif.h (MPIF_H), mpi, or mpi_f08 (MPI_F08). Operations
! without a root.
program everywhere
#if defined(MPI_F08)
  use mpi_f08
#if defined(OPEN_MPI_4)
  use mpi_f08_ext
#endif
#elif !defined(MPIF_H)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
#if defined(MPI_F08)
#define REQUEST type(MPI_Request)
#else
#define REQUEST integer
#endif
#if defined(OPEN_MPI_4)
#define REDUCE_SCATTER_INIT MPIX_Reduce_scatter_init
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#define REDUCE_SCATTER_BLOCK_INIT MPIX_Reduce_scatter_block_init
#else
#define REDUCE_SCATTER_INIT MPI_Reduce_scatter_init
#define ALLTOALLV_INIT MPI_Alltoallv_init
#define REDUCE_SCATTER_BLOCK_INIT MPI_Reduce_scatter_block_init
#endif
#if defined(OPEN_MPI_4) && !defined(MPI_F08)
  external :: MPIX_Reduce_scatter_init, MPIX_Reduce_scatter_block_init, MPIX_Alltoallv_init
#endif
  integer :: rank, size, i, total, bad, ierr, step
  integer, allocatable :: counts(:), displs(:), own(:), all(:), combined(:), row(:), column(:), three(:), block(:)
  REQUEST :: requests(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  bad = 0
  allocate (counts(size), displs(size), row(2*size), column(2*size), three(3*size), block(3))
  total = 0
  do i = 1, size
    counts(i) = mod(i - 1, 4) + 1
    displs(i) = total
    total = total + counts(i)
  end do
  allocate (own(counts(rank + 1)), all(total), combined(counts(rank + 1)))

  own = rank
  call MPI_Allgatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, displs, MPI_INTEGER, &
                      MPI_COMM_WORLD, ierr)
  do i = 1, size
    if (any(all(displs(i) + 1:displs(i) + counts(i)) /= i - 1)) bad = bad + 1
  end do

  ! In place.
  all = [(i*(rank + 1), i=1, total)]
  call MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  combined = all(1:counts(rank + 1))
  call check_combined(0)
  three = [(i*(rank + 1), i=1, 3*size)]
  call MPI_Reduce_scatter_block(three, block, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check_block(0)

  counts = 2
  displs = [(2*i, i=0, size - 1)]
  do i = 1, size
    row(2*i - 1:2*i) = 100*rank + i - 1
  end do
  call MPI_Alltoallv(row, counts, displs, MPI_INTEGER, column, counts, displs, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierr)
  do i = 1, size
    if (any(column(2*i - 1:2*i) /= 100*(i - 1) + rank)) bad = bad + 1
  end do
  call MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, row, counts, displs, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierr)
  if (any(row /= column)) bad = bad + 1
  call MPI_Alltoall(column, 2, MPI_INTEGER, row, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  do i = 1, size
    if (any(row(2*i - 1:2*i) /= 100*rank + i - 1)) bad = bad + 1
  end do
  call ALLTOALLV_INIT(row, counts, displs, MPI_INTEGER, column, counts, displs, MPI_INTEGER, &
                      MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr)
  do step = 1, 3
    do i = 1, size
      row(2*i - 1:2*i) = 1000*step + 100*rank + i - 1
    end do
    column = -1
    call MPI_Start(requests(1), ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    do i = 1, size
      if (any(column(2*i - 1:2*i) /= 1000*step + 100*(i - 1) + rank)) bad = bad + 1
    end do
  end do
  call MPI_Request_free(requests(1), ierr)

  total = 0
  do i = 1, size
    counts(i) = mod(i - 1, 4) + 1
    displs(i) = total
    total = total + counts(i)
  end do
  call REDUCE_SCATTER_INIT(all, combined, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                           MPI_INFO_NULL, requests(1), ierr)
  call REDUCE_SCATTER_BLOCK_INIT(three, block, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                                 MPI_INFO_NULL, requests(2), ierr)
  do step = 1, 4
    all = [((i + step)*(rank + 1), i=1, total)]
    three = [((i + step)*(rank + 1), i=1, 3*size)]
    combined = -1
    block = -1
    call MPI_Start(requests(1), ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Start(requests(2), ierr)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
    call check_combined(step)
    call check_block(step)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0, a)', 'everywhere ', bad, ' wrong'
  call MPI_Finalize(ierr)
  if (bad /= 0) stop 3

contains
  subroutine check_combined(added)
    integer, intent(in) :: added
    integer :: k
    do k = 1, counts(rank + 1)
      if (combined(k) /= size*(size + 1)/2*(displs(rank + 1) + k + added)) bad = bad + 1
    end do
  end subroutine check_combined

  subroutine check_block(added)
    integer, intent(in) :: added
    integer :: k
    do k = 1, 3
      if (block(k) /= size*(size + 1)/2*(3*rank + k + added)) bad = bad + 1
    end do
  end subroutine check_block
end program everywhere
