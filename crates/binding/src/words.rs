//! Bytes, numbers and texts between processes: what agreements and measurements take.
//!
//! Messages and texts may have any size; what exceeds MPI's counts goes as one element of a derived
//! datatype.

use super::datatype::Counted;
use super::raw::{self, MPI_Datatype, MPI_Op, MPI_Status};
use super::{Communicator, Datatype, LARGEST_COUNT, MpiError, calls};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use tuwtree_model::Rank;

/// A number with an MPI datatype.
pub trait Number: Copy + Default {
    /// MPI's datatype for it.
    fn datatype() -> MPI_Datatype;
}

macro_rules! numbers {
    ($($type:ty = $datatype:ident),*) => {$(
        impl Number for $type {
            fn datatype() -> MPI_Datatype {
                // SAFETY: a predefined datatype of rsmpi's C shim, set when the library was built.
                unsafe { raw::$datatype }
            }
        }
    )*};
}

numbers!(i32 = RSMPI_INT32_T, u64 = RSMPI_UINT64_T, f64 = RSMPI_DOUBLE);

/// Size of a received message in bytes.
pub(crate) fn received(status: &MPI_Status) -> Result<u64, MpiError> {
    let mut count = 0;
    // SAFETY: a status that MPI has filled, and a local number.
    unsafe { calls::get_elements_x(status, raw::TUWTREE_BYTE, &mut count)? };
    Ok(u64::try_from(count).unwrap_or(0))
}

impl Communicator {
    /// Sends these bytes; done when they may be changed again.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn send(&self, bytes: &[u8], to: Rank, tag: c_int) -> Result<(), MpiError> {
        let byte = Datatype::byte();
        let Counted { count, ref datatype, .. } = Counted::of_bytes(&byte, bytes.len())?;
        let comm = self.raw();
        // SAFETY: `count` of the datatype are the bytes of the slice.
        unsafe { calls::send(address(bytes), count, datatype.raw(), to as c_int, tag, comm) }
    }

    /// Receives a message of at most these bytes: how many it has.
    ///
    /// # Errors
    /// What MPI returns, `MPI_ERR_TRUNCATE` for a message that is too long.
    pub fn receive(&self, bytes: &mut [u8], from: Rank, tag: c_int) -> Result<u64, MpiError> {
        let byte = Datatype::byte();
        let Counted { count, ref datatype, .. } = Counted::of_bytes(&byte, bytes.len())?;
        let (into, datatype, comm) = (address_mut(bytes), datatype.raw(), self.raw());
        let mut status = MaybeUninit::uninit();
        // SAFETY: `count` of the datatype are the bytes of the slice, which is ours alone; MPI_Recv
        // fills the status.
        unsafe {
            let filled = status.as_mut_ptr();
            calls::recv(into, count, datatype, from as c_int, tag, comm, filled)?;
            received(&status.assume_init())
        }
    }

    /// A message of whatever size.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive_any(&self, from: Rank, tag: c_int) -> Result<Vec<u8>, MpiError> {
        let mut status = MaybeUninit::uninit();
        // SAFETY: MPI_Probe fills the status.
        let bytes = unsafe {
            calls::probe(from as c_int, tag, self.raw(), status.as_mut_ptr())?;
            received(&status.assume_init())?
        };
        let mut message = vec![0; bytes as usize];
        self.receive(&mut message, from, tag)?;
        Ok(message)
    }

    /// Runs `work` while these messages are under way; they have left when this returns.
    ///
    /// # Errors
    /// What MPI returns, and `work`.
    pub fn sending<T, E: From<MpiError>>(
        &self,
        messages: &[(Rank, Vec<u8>)],
        tag: c_int,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let byte = Datatype::byte();
        let counted = |message: &Vec<u8>| Counted::of_bytes(&byte, message.len());
        let counted: Result<Vec<_>, MpiError> =
            messages.iter().map(|(_, message)| counted(message)).collect();
        let counted = counted?;
        let (mut requests, mut failure) = (Vec::with_capacity(messages.len()), None);
        for ((to, message), Counted { count, datatype, .. }) in messages.iter().zip(&counted) {
            // SAFETY: `count` of the datatype are the bytes of the slice, which is borrowed until the message has left;
            // the null request is a constant handle.
            let started = unsafe {
                let mut request = raw::RSMPI_REQUEST_NULL;
                let (at, datatype) = (address(message), datatype.raw());
                let to = *to as c_int;
                calls::isend(at, *count, datatype, to, tag, self.raw(), &mut request)
                    .map(|()| request)
            };
            match started {
                Ok(request) => requests.push(request),
                Err(error) => failure = Some(error),
            }
        }
        let done = match failure {
            None => work(),
            Some(error) => Err(error.into()),
        };
        let mut left = Ok(());
        for request in &mut requests {
            // SAFETY: our own request, which is under way; no status is asked for.
            left = left.and(unsafe { calls::wait(request, raw::RSMPI_STATUS_IGNORE) });
        }
        let done = done?;
        left?;
        Ok(done)
    }

    /// Sends a message to a process and receives one of the same size from it.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn exchange<const N: usize>(
        &self,
        message: [u8; N],
        with: Rank,
        tag: c_int,
    ) -> Result<[u8; N], MpiError> {
        let mut answer = [0; N];
        self.swap((&message, with), (&mut answer, with), tag)?;
        Ok(answer)
    }

    /// Sends a message to a process, and receives meanwhile one that fills `into` from a process, the
    /// same or another.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For 2^31 bytes.
    pub fn swap(
        &self,
        (sent, to): (&[u8], Rank),
        (into, from): (&mut [u8], Rank),
        tag: c_int,
    ) -> Result<(), MpiError> {
        // SAFETY: two slices with their lengths, and a constant of the C shim.
        unsafe {
            let byte = raw::TUWTREE_BYTE;
            let sent = (address(sent), int(sent.len()), byte);
            let room = int(into.len());
            let into = (address_mut(into), room, byte);
            self.send_and_receive((sent, (to as c_int, tag)), (into, (from as c_int, tag)))
        }
    }

    /// Sends a message and receives one, at the same time.
    ///
    /// # Safety
    /// Both pointers have memory for the counts of elements, apart from each other.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) unsafe fn send_and_receive(
        &self,
        ((from, sent, sent_type), (to, sent_tag)): (
            (*const c_void, c_int, MPI_Datatype),
            (c_int, c_int),
        ),
        ((into, room, room_type), (source, tag)): (
            (*mut c_void, c_int, MPI_Datatype),
            (c_int, c_int),
        ),
    ) -> Result<(), MpiError> {
        // SAFETY: the caller's promise; no status is asked for.
        unsafe {
            calls::sendrecv(
                from,
                sent,
                sent_type,
                to,
                sent_tag,
                into,
                room,
                room_type,
                source,
                tag,
                self.raw(),
                raw::RSMPI_STATUS_IGNORE,
            )
        }
    }

    /// Waits until all processes have called this. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn barrier(&self) -> Result<(), MpiError> {
        // SAFETY: a barrier takes nothing but the communicator, which lives.
        unsafe { calls::barrier(self.raw()) }
    }

    /// The bytes that `root` has; the others', as many, are overwritten. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn broadcast(&self, bytes: &mut [u8], root: Rank) -> Result<(), MpiError> {
        let byte = Datatype::byte();
        let Counted { count, ref datatype, .. } = Counted::of_bytes(&byte, bytes.len())?;
        let (at, datatype, comm) = (address_mut(bytes), datatype.raw(), self.raw());
        // SAFETY: `count` of the datatype are the bytes of the slice, which is ours alone.
        unsafe { calls::bcast(at, count, datatype, root as c_int, comm) }
    }

    /// The number that `root` has; the others' are ignored. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn told_number(&self, number: u64, root: Rank) -> Result<u64, MpiError> {
        let mut bytes = number.to_ne_bytes();
        self.broadcast(&mut bytes, root)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// The text that `root` has; the others' are ignored. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn told(&self, text: &str, root: Rank) -> Result<String, MpiError> {
        // In one message, with its length before it; a long text takes another one.
        const FIRST: usize = 1024;
        let mut bytes = [&(text.len() as u64).to_ne_bytes(), text.as_bytes()].concat();
        bytes.resize(bytes.len().max(FIRST), 0);
        self.broadcast(&mut bytes[..FIRST], root)?;
        let (length, _) = bytes.split_first_chunk().expect("a text has its length before it");
        bytes.resize(FIRST.max(8 + u64::from_ne_bytes(*length) as usize), 0);
        self.broadcast(&mut bytes[FIRST..], root)?;
        let (length, text) = bytes.split_first_chunk().expect("a text has its length before it");
        Ok(String::from_utf8_lossy(&text[..u64::from_ne_bytes(*length) as usize]).into_owned())
    }

    /// For each place the greatest number that any process has there. Collective; all processes
    /// have equally many numbers.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn greatest<T: Number>(&self, numbers: &[T]) -> Result<Vec<T>, MpiError> {
        // SAFETY: a predefined operator of rsmpi's C shim; all numbers know a maximum.
        self.combined(numbers, unsafe { raw::RSMPI_MAX })
    }

    /// The least of the numbers that the processes give. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn least<T: Number>(&self, number: T) -> Result<T, MpiError> {
        // SAFETY: a predefined operator of rsmpi's C shim; all numbers know a minimum.
        self.combined(&[number], unsafe { raw::RSMPI_MIN }).map(|least| least[0])
    }

    fn combined<T: Number>(&self, numbers: &[T], operator: MPI_Op) -> Result<Vec<T>, MpiError> {
        let mut results = vec![T::default(); numbers.len()];
        let most = LARGEST_COUNT as usize;
        for (given, result) in numbers.chunks(most).zip(results.chunks_mut(most)) {
            let (from, into) = (given.as_ptr().cast(), result.as_mut_ptr().cast());
            // SAFETY: both slices have as many numbers of the type that is named.
            unsafe {
                calls::allreduce(
                    from,
                    into,
                    given.len() as c_int,
                    T::datatype(),
                    operator,
                    self.raw(),
                )?;
            }
        }
        Ok(results)
    }

    /// Every process's number, in rank order. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn all_numbers(&self, number: u64) -> Result<Vec<u64>, MpiError> {
        let mut all = vec![0_u64; self.size()];
        let (own, into, one) =
            ((&raw const number).cast(), all.as_mut_ptr().cast(), u64::datatype());
        // SAFETY: one number goes out, and there is room for one of each process.
        unsafe { calls::allgather(own, 1, one, into, 1, one, self.raw())? };
        Ok(all)
    }

    /// Everybody's input, of the same size, at `root` one after the other in its output: `MPI_Gather`.
    /// Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// At the root, for an output that is not `p` times as large as the input; for 2^31 bytes.
    pub fn gather_equal(
        &self,
        input: &[u8],
        output: &mut [u8],
        root: Rank,
    ) -> Result<(), MpiError> {
        assert!(self.rank() != root || output.len() == self.size() * input.len());
        let (from, into, count) = (address(input), address_mut(output), int(input.len()));
        // SAFETY: the input has `count` bytes, the output, at the root, p times as many; elsewhere
        // it is not looked at.
        unsafe {
            let byte = raw::TUWTREE_BYTE;
            calls::gather(from, count, byte, into, count, byte, int(root), self.raw())
        }
    }

    /// The root's input, cut into equal blocks, in everybody's output: `MPI_Scatter`. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// At the root, for an input that is not `p` times as large as the output; for 2^31 bytes.
    pub fn scatter_equal(
        &self,
        input: &[u8],
        output: &mut [u8],
        root: Rank,
    ) -> Result<(), MpiError> {
        assert!(self.rank() != root || input.len() == self.size() * output.len());
        let (from, count, into) = (address(input), int(output.len()), address_mut(output));
        // SAFETY: the output has `count` bytes, the input, at the root, p times as many; elsewhere
        // it is not looked at.
        unsafe {
            let byte = raw::TUWTREE_BYTE;
            calls::scatter(from, count, byte, into, count, byte, int(root), self.raw())
        }
    }

    /// At `root`, all processes' numbers in rank order; nothing elsewhere. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn gather(&self, number: u64, root: Rank) -> Result<Vec<u64>, MpiError> {
        let mut all = vec![0; if self.rank() == root { 8 * self.size() } else { 0 }];
        self.gather_equal(&number.to_ne_bytes(), &mut all, root)?;
        Ok(words_of(&all))
    }

    /// At process 0, the numbers of all processes, one after the other in rank order; empty at all
    /// others. Collective; processes may have different counts of numbers.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn collected(&self, numbers: &[f64], tag: c_int) -> Result<Vec<f64>, MpiError> {
        let counts = self.gather(numbers.len() as u64, 0)?;
        if self.rank() != 0 {
            let words: Vec<u64> = numbers.iter().copied().map(f64::to_bits).collect();
            return self.send(&bytes_of(&words), 0, tag).map(|()| Vec::new());
        }
        let mut all = numbers.to_vec();
        for (rank, &count) in counts.iter().enumerate().skip(1) {
            let mut bytes = vec![0; 8 * count as usize];
            self.receive(&mut bytes, rank, tag)?;
            all.extend(words_of(&bytes).into_iter().map(f64::from_bits));
        }
        Ok(all)
    }

    /// Gives each process the list that `root` has for it; the root's `list` is called for all ranks in order.
    /// Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn distribute(
        &self,
        list: Option<impl Fn(Rank) -> Vec<u64>>,
        root: Rank,
        tag: c_int,
    ) -> Result<Vec<u64>, MpiError> {
        let Some(list) = list.filter(|_| self.rank() == root) else {
            let mut length = [0; 8];
            self.receive(&mut length, root, tag)?;
            let mut bytes = vec![0_u8; u64::from_ne_bytes(length) as usize * 8];
            self.receive(&mut bytes, root, tag)?;
            return Ok(words_of(&bytes));
        };
        for rank in (0..self.size()).filter(|&rank| rank != root) {
            let words = list(rank);
            self.send(&(words.len() as u64).to_ne_bytes(), rank, tag)?;
            self.send(&bytes_of(&words), rank, tag)?;
        }
        Ok(list(root))
    }
}

/// Words as a message has them.
pub fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The words of a message.
pub fn words_of(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8).map(|word| word.try_into().expect("chunks of 8"));
    words.map(u64::from_ne_bytes).collect()
}

/// Address of bytes. An empty slice yields a byte of our own: its pointer may have any value, and 1 is `MPI_IN_PLACE`
/// in Open MPI.
pub fn address(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

/// Like [`address`], for bytes that MPI may write.
pub fn address_mut(bytes: &mut [u8]) -> *mut c_void {
    if bytes.is_empty() { address(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}

/// A count as MPI takes it.
pub fn int(count: usize) -> c_int {
    c_int::try_from(count).expect("fewer than 2^31")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_taken_for_in_place() {
        let mut none = Vec::new();
        let some = [1_u8, 2];
        // SAFETY: a test looks at the constant address, and follows it nowhere.
        let in_place = unsafe { raw::TUWTREE_IN_PLACE };
        assert!(address_mut(&mut none) != in_place && address(&none) != in_place.cast_const());
        assert_eq!(address(&some), some.as_ptr().cast());
    }
}
