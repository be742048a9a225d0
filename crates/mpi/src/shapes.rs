//! Functions with the arguments of MPI's own, behind which some take a place for a request. They differ in the types of
//! counts and displacements, and in what is done.
//!
//! Each macro takes `name(count, displacement) = arguments, work`: the types of counts and displacements, the function that
//! takes the arguments, and what is done with these and the communicator; also with the request, if one is named behind the
//! types.

/// A function for C, in which nothing unwinds and errors go to the error handler of the communicator.
macro_rules! exported {
    (
        $(#[$documented:meta])*
        $name:ident($($argument:ident: $type:ty),*; $comm:ident $(, $request:ident)?) => $work:expr
    ) => {
        $(#[$documented])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($argument: $type,)*
            $comm: MPI_Comm,
            $($request: *mut *mut COperation,)?
        ) -> c_int {
            // SAFETY: the caller's promise is what the function's description demands.
            unsafe { guarded($comm, || $work) }
        }
    };
}

/// A function with the arguments of `MPI_Gatherv`.
macro_rules! like_gatherv {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty, $place:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, sendcount: $count, sendtype: MPI_Datatype,
                recvbuf: *mut c_void, recvcounts: *const $count, displs: *const $place,
                recvtype: MPI_Datatype, root: c_int; comm $(, $request)?
            ) => {
                let own = (sendbuf, sendcount, sendtype);
                let all = (recvbuf, recvcounts, displs, recvtype);
                $work(&Arguments::$arguments(own, all, root), comm $(, $request)?)
            }
        }
    };
}

/// As `like_gatherv`, with the arguments of `MPI_Scatterv`.
macro_rules! like_scatterv {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty, $place:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, sendcounts: *const $count, displs: *const $place,
                sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: $count,
                recvtype: MPI_Datatype, root: c_int; comm $(, $request)?
            ) => {
                let all = (sendbuf, sendcounts, displs, sendtype);
                let own = (recvbuf, recvcount, recvtype);
                $work(&Arguments::$arguments(all, own, root), comm $(, $request)?)
            }
        }
    };
}

/// As `like_gatherv`, with the arguments of `MPI_Allgatherv`, which has no root.
macro_rules! like_allgatherv {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty, $place:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, sendcount: $count, sendtype: MPI_Datatype,
                recvbuf: *mut c_void, recvcounts: *const $count, displs: *const $place,
                recvtype: MPI_Datatype; comm $(, $request)?
            ) => {
                let own = (sendbuf, sendcount, sendtype);
                let all = (recvbuf, recvcounts, displs, recvtype);
                $work(&Arguments::$arguments(own, all), comm $(, $request)?)
            }
        }
    };
}

/// A function with the arguments of `MPI_Alltoallv`.
macro_rules! like_alltoallv {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty, $place:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, sendcounts: *const $count, sdispls: *const $place,
                sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const $count,
                rdispls: *const $place, recvtype: MPI_Datatype; comm $(, $request)?
            ) => {
                let given = (sendbuf, sendcounts, sdispls, sendtype);
                let result = (recvbuf, recvcounts, rdispls, recvtype);
                $work(&AlltoallArguments::$arguments(given, result), comm $(, $request)?)
            }
        }
    };
}

/// A function with the arguments of `MPI_Alltoall`, which has no displacements.
macro_rules! like_alltoall {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, sendcount: $count, sendtype: MPI_Datatype,
                recvbuf: *mut c_void, recvcount: $count, recvtype: MPI_Datatype; comm $(, $request)?
            ) => {
                let given = (sendbuf, sendcount, sendtype);
                let result = (recvbuf, recvcount, recvtype);
                $work(&EqualAlltoallArguments::$arguments(given, result), comm $(, $request)?)
            }
        }
    };
}

/// A function with the arguments of `MPI_Reduce_scatter`, or of `MPI_Reduce_scatter_block`: the type is that of a list of
/// counts, or of the one count.
macro_rules! like_reduce_scatter {
    (
        $(#[$documented:meta])*
        $name:ident($counts:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        exported! {
            $(#[$documented])*
            $name(
                sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: $counts,
                datatype: MPI_Datatype, op: MPI_Op; comm $(, $request)?
            ) => {
                let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
                let arguments = ReduceScatterArguments::$arguments(buffers, recvcounts, combining);
                $work(&arguments, comm $(, $request)?)
            }
        }
    };
}
