//! Small schedules whose times can be found by hand: alpha = 1, beta = 1, gamma = 5.

use super::*;
use crate::document;
use tuwtree_model::{ClosedSet, Homogeneous};

/// A broadcast of 10 bytes, whose segments have 10 bytes too, with these actions.
fn schedule(ranks: usize, ports: u16, actions: &str) -> Schedule {
    let segments = vec![10; ranks];
    let text = format!(
        r#"{{"format":"tuwtree-schedule","version":1,"operation":"broadcast","order":"any",
        "processors":{ranks},"root":0,"ports":{ports},"vector_bytes":10,
        "segment_bytes":{segments:?},"actions":{actions}}}"#
    );
    document::read(text.as_bytes()).unwrap()
}

fn costs() -> Homogeneous {
    Homogeneous::new(1.0, 1.0, 5.0).unwrap()
}

/// Ready, start and end of each action of each rank.
fn times(schedule: &Schedule, sends: Sends) -> Vec<Vec<(u64, u64, u64)>> {
    let timeline = simulate(schedule, &costs(), sends).unwrap();
    let units = |time: Time| time.units() as u64;
    (0..schedule.ranks())
        .map(|rank| {
            let actions = timeline.actions(rank).iter();
            actions.map(|at| (units(at.ready), units(at.start), units(at.end))).collect()
        })
        .collect()
}

#[test]
fn exchanges_in_a_ring_go_on_at_once() {
    let around = |to: u32, from: u32| {
        format!(
            r#"[{{"send":{to},"from":["output",0,10],"receive":{from},"into":["segment",0,10]}}]"#
        )
    };
    let actions = format!("[{},{},{}]", around(1, 2), around(2, 0), around(0, 1));
    for &sends in Sends::ALL {
        assert_eq!(times(&schedule(3, 1, &actions), sends), vec![vec![(0, 0, 11)]; 3]);
    }
}

/// Two messages along a line of three: the action between receives one while it sends the other.
#[test]
fn a_message_with_an_exchange_at_either_end_takes_what_exchanges_do() {
    let costs = costs().with_exchange(3.0, 2.0).unwrap();
    let end = |actions: &str, duplex| {
        let schedule = schedule(3, 1, actions);
        [Sends::Synchronous, Sends::Eager].map(|sends| {
            let timeline = simulate_on(&schedule, duplex, &costs, sends).unwrap();
            [0, 1, 2].map(|rank| {
                timeline.actions(rank).iter().map(|at| at.end.units()).fold(0.0, f64::max)
            })
        })
    };
    let exchange = r#"[
        [{"send":1,"from":["output",0,4]}],
        [{"send":2,"from":["segment",0,10],"receive":0,"into":["output",0,4]}],
        [{"receive":1,"into":["segment",0,10]}]]"#;
    assert_eq!(end(exchange, false), [[3.0 + 8.0, 3.0 + 20.0, 3.0 + 20.0]; 2]);
    assert_eq!(end(exchange, true), [[3.0 + 8.0, 3.0 + 20.0, 3.0 + 20.0]; 2]);
    let lone = r#"[
        [{"send":1,"from":["output",0,4]}],
        [{"receive":0,"into":["output",0,4]},{"send":2,"from":["segment",0,10]}],
        [{"receive":1,"into":["segment",0,10]}]]"#;
    assert_eq!(end(lone, false), [[1.0 + 4.0, 5.0 + 11.0, 5.0 + 11.0]; 2]);
}

#[test]
fn an_exchange_ends_with_its_later_half() {
    let actions = r#"[
        [{"send":1,"from":["output",0,4],"receive":2,"into":["segment",0,10]}],
        [{"receive":0,"into":["output",0,4]}],
        [{"from":["output",0,1],"into":["segment",0,1]},{"send":0,"from":["output",0,10]}]]"#;
    let times = times(&schedule(3, 1, actions), Sends::Synchronous);
    assert_eq!(times[1], [(0, 0, 5)]);
    assert_eq!(times[2], [(0, 0, 5), (5, 5, 16)]);
    assert_eq!(times[0], [(0, 5, 16)], "its start is that of the half that ends last");
}

#[test]
fn ports_work_at_once_and_a_send_waits_for_all_that_was_received_before() {
    let actions = r#"[
        [{"send":1,"from":["output",0,5]}],
        [{"receive":0,"into":["output",0,5]},
         {"port":1,"receive":2,"into":["output",5,5]},
         {"send":3,"from":["output",0,10]}],
        [{"from":["output",0,1],"into":["segment",0,1]},{"send":1,"from":["output",5,5]}],
        [{"receive":1,"into":["output",0,10]}]]"#;
    let times = times(&schedule(4, 2, actions), Sends::Synchronous);
    assert_eq!(times[1], [(0, 0, 6), (0, 5, 11), (11, 11, 22)]);
    assert_eq!(times[3], [(0, 11, 22)]);
}

#[test]
fn a_combination_waits_for_what_was_received_before_on_another_port() {
    let actions = r#"[
        [{"receive":1,"into":["output",0,4],"combine":"right"},
         {"port":1,"receive":2,"into":["output",0,4],"combine":"right"}],
        [{"send":0,"from":["input",0,4]}],
        [{"send":0,"from":["input",0,4]}]]"#;
    let text = format!(
        r#"{{"format":"tuwtree-schedule","version":1,"operation":"reduce","processors":3,"root":0,
            "order":"ordered","ports":2,"vector_bytes":4,"segment_bytes":[0,0,0],
            "actions":{actions}}}"#
    );
    let times = times(&document::read(text.as_bytes()).unwrap(), Sends::Synchronous);
    assert_eq!(times[0], [(0, 0, 5), (5, 5, 10)]);
}

#[test]
fn a_copy_that_combines_takes_the_operator_s_time_and_waits_for_what_it_meets() {
    let schedule = |combine: &str| {
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":5,"operation":"reduce","processors":2,"root":0,
            "order":"any","ports":2,"vector_bytes":4,"combine_per_byte":2.5,"segment_bytes":[0,0],
            "actions":[[{{"receive":1,"into":["output",0,4]}},
                {{"port":1,"from":["input",0,4],"into":["output",0,4]{combine}}}],
                [{{"send":0,"from":["input",0,4]}}]]}}"#
        );
        document::read(text.as_bytes()).unwrap()
    };
    // At 5 a byte a copy takes 20 from the start, at 2.5 combining 10 when the vector has come.
    assert_eq!(times(&schedule(""), Sends::Synchronous)[0], [(0, 0, 5), (0, 0, 20)]);
    let combining = schedule(r#","combine":"left""#);
    assert_eq!(times(&combining, Sends::Synchronous)[0], [(0, 0, 5), (5, 5, 15)]);
}

#[test]
fn a_vector_is_forwarded_piece_by_piece_where_there_are_two_ports() {
    let actions = r#"[
        [{"send":1,"from":["output",0,5]},{"send":1,"from":["output",5,5]}],
        [{"receive":0,"into":["output",0,5]},{"port":1,"send":2,"from":["output",0,5]},
         {"receive":0,"into":["output",5,5]},{"port":1,"send":2,"from":["output",5,5]}],
        [{"receive":1,"into":["output",0,5]},{"receive":1,"into":["output",5,5]}]]"#;
    let times = times(&schedule(3, 2, actions), Sends::Synchronous);
    assert_eq!(times[1], [(0, 0, 6), (6, 6, 12), (6, 6, 12), (12, 12, 18)]);
}

#[test]
fn an_eager_sender_does_not_wait_for_a_receiver_that_is_busy() {
    let actions = r#"[
        [{"send":1,"from":["output",0,10]},{"send":2,"from":["output",0,10]}],
        [{"from":["output",0,10],"into":["segment",0,10]},{"receive":0,"into":["output",0,10]}],
        [{"receive":0,"into":["output",0,10]}]]"#;
    let schedule = schedule(3, 1, actions);
    let synchronous = times(&schedule, Sends::Synchronous);
    assert_eq!(synchronous[0], [(0, 50, 61), (61, 61, 72)]);
    assert_eq!(synchronous[2], [(0, 61, 72)]);
    let eager = times(&schedule, Sends::Eager);
    assert_eq!(eager[0], [(0, 0, 11), (11, 11, 22)]);
    assert_eq!(eager[1], [(0, 0, 50), (50, 50, 61)]);
    assert_eq!(eager[2], [(0, 11, 22)]);
}

#[test]
fn the_critical_path_passes_from_rank_to_rank() {
    let actions = r#"[
        [{"send":1,"from":["output",0,10]}],
        [{"receive":0,"into":["output",0,10]},{"send":2,"from":["output",0,10]}],
        [{"from":["output",0,1],"into":["segment",0,1]},{"receive":1,"into":["output",0,10]}]]"#;
    let schedule = schedule(3, 1, actions);
    let timeline = simulate(&schedule, &costs(), Sends::Synchronous).unwrap();
    let path = timeline.critical_path();
    let steps: Vec<_> = path.iter().map(|step| (step.rank, step.action)).collect();
    assert_eq!(steps, [(1, 0), (1, 1)]);
    assert_eq!((timeline.busy_units(2), timeline.waiting_units(2)), (16.0, 6.0));
}

/// Rank, action, start and end of what is on the critical path, sends being synchronous.
fn critical_path(actions: &str) -> Vec<(usize, usize, f64, f64)> {
    let timeline = simulate(&schedule(3, 1, actions), &costs(), Sends::Synchronous).unwrap();
    let path = timeline.critical_path();
    path.iter().map(|step| (step.rank, step.action, step.start.units(), step.end.units())).collect()
}

#[test]
fn the_critical_path_comes_from_the_half_of_an_exchange_that_ends_last() {
    // From time 5 on, 0 has a byte from 1 until 7, and sends 9 to 2 until 15.
    let actions = r#"[
        [{"send":2,"from":["output",0,9],"receive":1,"into":["segment",0,1]}],
        [{"from":["output",0,1],"into":["segment",0,1]},{"send":0,"from":["output",0,1]}],
        [{"from":["output",0,1],"into":["segment",0,1]},{"receive":0,"into":["segment",0,9]}]]"#;
    assert_eq!(critical_path(actions), [(2, 0, 0.0, 5.0), (2, 1, 5.0, 15.0)]);
}

#[test]
fn the_critical_path_states_the_times_of_the_half_of_an_exchange_that_is_on_it() {
    // 1 waits for 0 until 5, and copies once its byte is away; what 0 sends to 2 delays nobody.
    let actions = r#"[
        [{"from":["output",0,1],"into":["segment",0,1]},
         {"send":2,"from":["output",0,9],"receive":1,"into":["segment",0,1]}],
        [{"send":0,"from":["output",0,1]},{"from":["output",0,2],"into":["segment",0,2]}],
        [{"receive":0,"into":["segment",0,9]}]]"#;
    assert_eq!(critical_path(actions), [(0, 0, 0.0, 5.0), (0, 1, 5.0, 7.0), (1, 1, 7.0, 17.0)]);
}

#[test]
fn who_does_nothing_is_busy_for_0_units_and_not_for_minus_0() {
    let timeline = simulate(&schedule(1, 1, "[[]]"), &costs(), Sends::Synchronous).unwrap();
    assert!(timeline.busy_units(0).is_sign_positive());
    assert!(timeline.waiting_units(0).is_sign_positive());
}

#[test]
fn ranks_that_wait_for_each_other_are_told() {
    let actions = r#"[
        [{"send":1,"from":["output",0,10]},{"receive":1,"into":["segment",0,10]}],
        [{"send":0,"from":["output",0,10]},{"receive":0,"into":["output",0,10]}]]"#;
    let schedule = schedule(2, 1, actions);
    let error = simulate(&schedule, &costs(), Sends::Synchronous).unwrap_err();
    assert_eq!(error, SimulationError::Deadlock { rank: 0, action: 0 });
    assert!(simulate(&schedule, &costs(), Sends::Eager).is_ok());
}

/// A gather in which 0 receives from 1 and 2, who have their blocks at once.
fn star() -> Schedule {
    let text = r#"{"format":"tuwtree-schedule","version":1,"operation":"gather","processors":3,
        "root":0,"order":"ordered","ports":1,"block_sizes_bytes":[1,2,3],"segment_bytes":[0,0,0],
        "actions":[[{"from":["input",0,1],"into":["output",0,1]},
            {"receive":1,"into":["output",1,2]},{"receive":2,"into":["output",3,3]}],
            [{"send":0,"from":["input",0,2]}],[{"send":0,"from":["input",0,3]}]]}"#;
    document::read(text.as_bytes()).unwrap()
}

#[test]
fn latency_passes_while_the_receiver_does_other_things_unless_receives_are_strict() {
    // Copy until 5; both messages have come at 8; each occupies the port for 2 and 2 or 3 more.
    let costs = Homogeneous::new(10.0, 1.0, 5.0).unwrap().with_overhead(2.0).unwrap();
    let times = |posts| {
        let handover = Handover { sends: Sends::Synchronous, posts };
        let timeline = simulate(&star(), &costs, handover).unwrap();
        let units = |time: Time| time.units();
        let root = timeline.actions(0).iter();
        let spans: Vec<_> = root.map(|at| [at.ready, at.start, at.end].map(units)).collect();
        let latencies = timeline.actions(0)[1..].iter().map(|at| at.latency);
        let latencies: Vec<_> = latencies.map(|(from, to)| (from.units(), to.units())).collect();
        let path = timeline.critical_path();
        let path: Vec<_> =
            path.iter().map(|at| (at.rank, at.start.units(), at.end.units())).collect();
        (spans, latencies, path)
    };
    let (spans, latencies, path) = times(Posts::PrePosted);
    assert_eq!(spans, [[0.0, 0.0, 5.0], [5.0, 8.0, 12.0], [12.0, 12.0, 17.0]]);
    assert_eq!(latencies, [(5.0, 8.0), (12.0, 12.0)]);
    assert_eq!(path, [(1, 0.0, 12.0), (0, 12.0, 17.0)]);
    let (spans, latencies, path) = times(Posts::Strict);
    assert_eq!(spans, [[0.0, 0.0, 5.0], [5.0, 13.0, 17.0], [17.0, 25.0, 30.0]]);
    assert_eq!(latencies, [(5.0, 13.0), (17.0, 25.0)]);
    assert_eq!(path, [(0, 0.0, 5.0), (0, 5.0, 17.0), (0, 17.0, 30.0)]);
}

/// A schedule of 4 ranks on a duplex port: of an allgather of 10 bytes each, or an allreduce of 10 bytes that combines
/// a byte in 2.
fn on_a_duplex_port(operation: &str, actions: &str) -> Schedule {
    let data = match operation {
        "allgather" => r#""block_sizes_bytes":[10,10,10,10]"#,
        _ => r#""vector_bytes":10,"combine_per_byte":2.0"#,
    };
    let text = format!(
        r#"{{"format":"tuwtree-schedule","version":5,"operation":"{operation}","order":"any",
        "processors":4,"ports":1,"duplex":true,{data},"segment_bytes":[10,10,10,10],
        "actions":{actions}}}"#
    );
    document::read(text.as_bytes()).unwrap()
}

/// Action, what it holds, ready, start and end of all that rank 0 does; and the completion time.
fn held(schedule: &Schedule) -> (Vec<(usize, Held, [f64; 3])>, f64) {
    let timeline = simulate(schedule, &costs(), Sends::Synchronous).unwrap();
    let times = |at: ActionTimes| [at.ready, at.start, at.end].map(|time| time.units());
    let held = timeline.occupations(0).map(|one| (one.action, one.held, times(one.times)));
    let path = timeline.critical_path();
    assert_eq!(path.first().unwrap().start, Time::ZERO);
    assert!(path.windows(2).all(|pair| pair[0].end == pair[1].start), "{path:?}");
    assert_eq!(path.last().unwrap().end, timeline.completion_time());
    (held.collect(), timeline.completion_time().units())
}

#[test]
fn an_exchange_on_a_duplex_port_frees_each_side_when_its_own_half_ends() {
    use Held::{ReceiveSide, SendSide};
    let schedule = on_a_duplex_port(
        "allgather",
        r#"[
        [{"send":1,"from":["input",0,4],"receive":2,"into":["output",20,10]},{"send":3,"from":["input",0,2]}],
        [{"receive":0,"into":["output",0,4]}],
        [{"send":0,"from":["input",0,10]}],
        [{"receive":0,"into":["output",0,2]}]]"#,
    );
    let (times, end) = held(&schedule);
    assert_eq!(
        times,
        [
            (0, SendSide, [0.0, 0.0, 5.0]),
            (0, ReceiveSide, [0.0, 0.0, 11.0]),
            (1, SendSide, [5.0, 5.0, 8.0])
        ]
    );
    assert_eq!(end, 11.0);
    let timeline = simulate(&schedule, &costs(), Sends::Synchronous).unwrap();
    assert_eq!(timeline.busy_units(0), 19.0);
    assert_eq!(timeline.actions(0)[0].end.units(), 11.0);
    let exchanges = simulate_on(&schedule, false, &costs(), Sends::Synchronous).unwrap();
    assert_eq!(exchanges.completion_time().units(), 14.0);
}

#[test]
fn combining_waits_for_both_halves_and_holds_the_side_that_receives() {
    use Held::{ReceiveSide, SendSide};
    let schedule = on_a_duplex_port(
        "allreduce",
        r#"[
        [{"send":1,"from":["input",0,10],"receive":2,"into":["output",0,2],"combine":"right"},
         {"receive":3,"into":["segment",0,1]},{"send":3,"from":["input",0,1]}],
        [{"receive":0,"into":["segment",0,10]}],
        [{"send":0,"from":["input",0,2]}],
        [{"send":0,"from":["input",0,1]},{"receive":0,"into":["segment",0,1]}]]"#,
    );
    let (times, end) = held(&schedule);
    assert_eq!(
        times,
        [
            (0, SendSide, [0.0, 0.0, 11.0]),
            (0, ReceiveSide, [0.0, 0.0, 15.0]),
            (1, ReceiveSide, [15.0, 15.0, 17.0]),
            (2, SendSide, [11.0, 11.0, 13.0])
        ]
    );
    assert_eq!(end, 17.0);
}

#[test]
fn a_copy_holds_both_sides_of_a_duplex_port() {
    use Held::{Port, ReceiveSide, SendSide};
    let schedule = on_a_duplex_port(
        "allgather",
        r#"[
        [{"send":1,"from":["input",0,4]},{"from":["input",0,1],"into":["segment",0,1]},
         {"receive":1,"into":["output",10,4]}],
        [{"receive":0,"into":["output",0,4]},{"send":0,"from":["input",0,4]}],[],[]]"#,
    );
    let (times, end) = held(&schedule);
    assert_eq!(
        times,
        [
            (0, SendSide, [0.0, 0.0, 5.0]),
            (1, Port, [5.0, 5.0, 10.0]),
            (2, ReceiveSide, [10.0, 10.0, 15.0])
        ]
    );
    assert_eq!(end, 15.0);
    let timeline = simulate(&schedule, &costs(), Sends::Synchronous).unwrap();
    assert_eq!(timeline.busy_units(0), 20.0, "the copy is on both sides");
}

/// Costs of which nodes of two ranks share a wire that a byte takes 1 on.
struct Nodes(Homogeneous);

impl CostModel for Nodes {
    fn ranks(&self) -> Option<usize> {
        None
    }

    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.0.transmission_between(sender, receiver, bytes)
    }

    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.0.latency_between(sender, receiver, bytes)
    }

    fn shared_wires(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Option<SharedWires>, TimeError> {
        let nodes = (sender / 2, receiver / 2);
        let time = Time::new(bytes as f64).unwrap();
        Ok((nodes.0 != nodes.1).then_some(SharedWires { nodes, time }))
    }

    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.0.copy_at(rank, bytes)
    }

    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        self.0.sum(start, cost)
    }

    fn least_busy(
        &self,
        direction: tuwtree_model::Direction,
        rank: Rank,
        ranks: usize,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.0.least_busy(direction, rank, ranks, bytes)
    }
}

#[test]
fn a_node_s_wire_carries_one_message_out_and_one_in_at_a_time() {
    let ends = |actions: &str| {
        let schedule = schedule(6, 1, actions);
        Sends::ALL.iter().map(move |&sends| {
            let timeline = simulate(&schedule, &Nodes(costs()), sends).unwrap();
            let end = |rank| timeline.actions(rank).iter().map(|at| at.end.units()).next_back();
            (0..6).map(|rank| end(rank).unwrap_or(0.0)).collect::<Vec<f64>>()
        })
    };
    let to = |rank: u32| format!(r#"[{{"send":{rank},"from":["output",0,10]}}]"#);
    let from = |rank: u32| format!(r#"[{{"receive":{rank},"into":["output",0,10]}}]"#);
    // Out of one node to two: the second message waits for 10, within the node none does.
    let out = format!("[{},{},{},[],{},[]]", to(2), to(4), from(0), from(1));
    // Into one node from two.
    let into = format!("[{},[],{},{},{},[]]", to(2), from(0), from(4), to(3));
    let inside = format!("[{},{},[],[],[],[]]", to(1), from(0));
    let synchronous = |actions: &str| ends(actions).next().unwrap();
    assert_eq!(synchronous(&out), [11.0, 21.0, 11.0, 0.0, 21.0, 0.0]);
    assert_eq!(synchronous(&into), [11.0, 0.0, 11.0, 21.0, 21.0, 0.0]);
    assert_eq!(synchronous(&inside), [11.0, 11.0, 0.0, 0.0, 0.0, 0.0]);
    // Eager senders go on, their messages wait.
    let eager = |actions: &str| ends(actions).next_back().unwrap();
    assert_eq!(eager(&out), [11.0, 11.0, 11.0, 0.0, 21.0, 0.0]);
    assert_eq!(eager(&into), [11.0, 0.0, 11.0, 21.0, 11.0, 0.0]);
}
