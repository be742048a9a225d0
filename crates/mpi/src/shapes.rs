//! Functions with the arguments of `MPI_Gatherv`, `MPI_Scatterv` and `MPI_Allgatherv`, behind which some take a place for a
//! request. They differ in the types of counts and displacements, and in what is done.

/// A function with the arguments of `MPI_Gatherv`: `name(count, displacement) = arguments, work`. The types are those of
/// counts and displacements, `arguments` is the function of `Arguments` that takes them, and `work` what is done with these and
/// the communicator; also with the request, if one is named behind the types.
macro_rules! like_gatherv {
    (
        $(#[$documented:meta])*
        $name:ident($count:ty, $place:ty $(, $request:ident)?) = $arguments:ident, $work:ident
    ) => {
        $(#[$documented])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            sendbuf: *const c_void,
            sendcount: $count,
            sendtype: MPI_Datatype,
            recvbuf: *mut c_void,
            recvcounts: *const $count,
            displs: *const $place,
            recvtype: MPI_Datatype,
            root: c_int,
            comm: MPI_Comm,
            $($request: *mut *mut COperation,)?
        ) -> c_int {
            // SAFETY: the caller's promise is what the function's description demands.
            unsafe {
                guarded(comm, || {
                    let own = (sendbuf, sendcount, sendtype);
                    let all = (recvbuf, recvcounts, displs, recvtype);
                    $work(&Arguments::$arguments(own, all, root), comm $(, $request)?)
                })
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
        $(#[$documented])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            sendbuf: *const c_void,
            sendcounts: *const $count,
            displs: *const $place,
            sendtype: MPI_Datatype,
            recvbuf: *mut c_void,
            recvcount: $count,
            recvtype: MPI_Datatype,
            root: c_int,
            comm: MPI_Comm,
            $($request: *mut *mut COperation,)?
        ) -> c_int {
            // SAFETY: the caller's promise is what the function's description demands.
            unsafe {
                guarded(comm, || {
                    let all = (sendbuf, sendcounts, displs, sendtype);
                    let own = (recvbuf, recvcount, recvtype);
                    $work(&Arguments::$arguments(all, own, root), comm $(, $request)?)
                })
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
        $(#[$documented])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            sendbuf: *const c_void,
            sendcount: $count,
            sendtype: MPI_Datatype,
            recvbuf: *mut c_void,
            recvcounts: *const $count,
            displs: *const $place,
            recvtype: MPI_Datatype,
            comm: MPI_Comm,
            $($request: *mut *mut COperation,)?
        ) -> c_int {
            // SAFETY: the caller's promise is what the function's description demands.
            unsafe {
                guarded(comm, || {
                    let own = (sendbuf, sendcount, sendtype);
                    let all = (recvbuf, recvcounts, displs, recvtype);
                    $work(&Arguments::$arguments(own, all), comm $(, $request)?)
                })
            }
        }
    };
}
