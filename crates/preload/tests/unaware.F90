! A program that knows nothing of tuwtree, in Fortran: with mpif.h (MPIF_H), mpi, or mpi_f08 (MPI_F08). Gathers
! and scatters in every way there is, as unaware_peer.c does in C: ranks of both may take part in one job.
program unaware
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
#define STATUSES(name) type(MPI_Status) :: name(2)
#define SOURCE_OF(name) name(1)%MPI_SOURCE
#else
#define REQUEST integer
#define STATUSES(name) integer :: name(MPI_STATUS_SIZE, 2)
#define SOURCE_OF(name) name(MPI_SOURCE, 1)
#endif
#if defined(OPEN_MPI_4)
#define GATHERV_INIT MPIX_Gatherv_init
#define SCATTERV_INIT MPIX_Scatterv_init
#else
#define GATHERV_INIT MPI_Gatherv_init
#define SCATTERV_INIT MPI_Scatterv_init
#endif
#if defined(OPEN_MPI_4) && !defined(MPI_F08)
  external :: MPIX_Gatherv_init, MPIX_Scatterv_init
#endif
  integer :: rank, size, root, i, total, bad, ierr, step, index, ended, indices(2)
  integer, allocatable :: counts(:), displs(:), own(:), back(:), all(:)
  REQUEST :: requests(2)
  STATUSES(statuses)
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  root = size / 2
  bad = 0
  allocate (counts(size), displs(size))
  total = 0
  do i = 1, size
    counts(i) = mod(i - 1, 4) + 1
    displs(i) = total
    total = total + counts(i)
  end do
  allocate (own(counts(rank + 1)), back(counts(rank + 1)), all(total))

  ! The root's block is in its place.
  call fill(0)
  if (rank == root) then
    all(displs(rank + 1) + 1:displs(rank + 1) + counts(rank + 1)) = own
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, ierr)
  else
    call MPI_Gatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, ierr)
  end if
  call check_all(0)
  back = -1
  if (rank == root) then
    call MPI_Scatterv(all, counts, displs, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, ierr)
  else
    call MPI_Scatterv(all, counts, displs, MPI_INTEGER, back, counts(rank + 1), MPI_INTEGER, root, &
                      MPI_COMM_WORLD, ierr)
    if (any(back /= own)) bad = bad + 1
  end if

  call fill(1)
  call MPI_Igatherv(own, counts(rank + 1), MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                    MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call check_all(1)
  call MPI_Iscatterv(all, counts, displs, MPI_INTEGER, back, counts(rank + 1), MPI_INTEGER, root, &
                     MPI_COMM_WORLD, requests(1), ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
  end do
  if (any(back /= own)) bad = bad + 1

  ! Persistent, beside a message to oneself, completed in several ways.
  call GATHERV_INIT(own, counts(rank + 1), MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
                    MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr)
  call SCATTERV_INIT(all, counts, displs, MPI_INTEGER, back, counts(rank + 1), MPI_INTEGER, root, &
                     MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr)
  do step = 2, 9
    call fill(step)
    call MPI_Start(requests(1), ierr)
#if defined(OPEN_MPI_4)
    select case (mod(step, 4))
    case (0)
      call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)
    case (1)
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
      if (index /= 1) bad = bad + 1
    case (2)
      call MPI_Waitsome(2, requests, ended, indices, statuses, ierr)
      if (ended /= 1 .or. indices(1) /= 1) bad = bad + 1
    case default
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(2, requests, flag, statuses, ierr)
      end do
    end select
#else
    ! MPICH 4.0 stumbles over lists of persistent collectives, in some more ways from mpi_f08.
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
#endif
    call check_all(step)
    back = -1
#if defined(OPEN_MPI_4)
    call MPI_Startall(1, requests(2:2), ierr)
    select case (mod(step, 3))
    case (0)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
    case (1)
      flag = .false.
      do while (.not. flag)
        call MPI_Testany(2, requests, index, flag, MPI_STATUS_IGNORE, ierr)
      end do
      if (index /= 2) bad = bad + 1
    case default
      ended = 0
      do while (ended == 0)
        call MPI_Testsome(2, requests, ended, indices, MPI_STATUSES_IGNORE, ierr)
      end do
      if (ended /= 1 .or. indices(1) /= 2) bad = bad + 1
    end select
#else
    call MPI_Start(requests(2), ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(2), flag, MPI_STATUS_IGNORE, ierr)
    end do
#endif
    if (any(back /= own)) bad = bad + 1
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
  if (requests(1) /= MPI_REQUEST_NULL) bad = bad + 1

  ! An ordinary message to oneself keeps its status.
  call MPI_Irecv(back, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(own, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  if (SOURCE_OF(statuses) /= rank .or. ierr /= MPI_SUCCESS) bad = bad + 1

  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == root) print '(a, i0, a, i0, a)', 'gathered ', total, ' numbers, ', bad, ' wrong'
  call MPI_Finalize(ierr)
  if (bad /= 0) stop 3

contains
  subroutine fill(round)
    integer, intent(in) :: round
    integer :: k
    do k = 1, counts(rank + 1)
      own(k) = 1000*round + displs(rank + 1) + k
    end do
    all = -1
  end subroutine fill

  subroutine check_all(round)
    integer, intent(in) :: round
    integer :: k
    if (rank /= root) return
    do k = 1, total
      if (all(k) /= 1000*round + k) bad = bad + 1
    end do
  end subroutine check_all
end program unaware
