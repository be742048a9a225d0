/* A program that knows nothing of tuwtree, with a session in place of MPI_Init. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };

int main(void)
{
    int rank, size, i, bad = 0, own, counts[MOST], displs[MOST], all[MOST];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "unaware", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    own = 7 * rank;
    MPI_Gatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
    for (i = 0; rank == 0 && i < size; i++)
        bad += all[i] != 7 * i;
    if (rank == 0)
        printf("a session, %d wrong\n", bad);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return bad != 0;
}
