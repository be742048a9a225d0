//! What a comparison keeps of its simulations.

use tuwtree_model::{
    BlockSizes, Construction, Homogeneous, MessageSizes, Operation, Order, Problem,
};
use tuwtree_plan::{Comparison, Effort, Plan, Request, Settings, compare};
use tuwtree_schedule::{Sends, simulate_on};

fn compared(problem: &Problem, keeps_timelines: bool) -> Comparison {
    let settings = Settings { keeps_timelines, ..Settings::DEFAULT };
    let request = Request::new(problem, settings, &());
    let wanted = request.suitable(Order::Any, Effort::Moderate);
    compare(&request, &wanted, false).unwrap()
}

#[test]
fn timelines_of_schedules_are_kept_for_those_who_draw_them_and_for_nobody_else() {
    let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
    let sizes = BlockSizes::new([5, 0, 30, 2, 9]).unwrap();
    let problem = Problem::allgather(&sizes, costs).unwrap();
    let kept = compared(&problem, true);
    assert!(kept.outcomes.len() > 3);
    for outcome in &kept.outcomes {
        let timeline = outcome.timeline.as_ref().unwrap();
        assert_eq!(timeline.completion_time(), outcome.time(), "{:?}", outcome.construction);
    }
    let without = compared(&problem, false);
    assert!(without.outcomes.iter().all(|outcome| outcome.timeline.is_none()));
}

#[test]
fn what_is_made_for_duplex_ports_has_its_time_there_and_need_not_be_simulated_again() {
    let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
    let messages = MessageSizes::new(vec![0, 3, 9, 0, 0, 5, 40, 2, 0]).unwrap();
    let problem = Problem::new(Operation::Alltoall, messages, costs).unwrap();
    let comparison = compared(&problem, false);
    let mut outcomes = comparison.outcomes.iter();
    let shop = outcomes.find(|outcome| outcome.construction == Construction::OpenShop).unwrap();
    assert_eq!(shop.otherwise, Some(shop.time()));
}

#[test]
fn direct_messages_of_many_ranks_are_listed_only_when_they_are_looked_at() {
    let p = 300;
    let sizes = (0..p * p).map(|at| (at % 7 * (at % 5)) as u64);
    let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
    let sizes = MessageSizes::new(sizes).unwrap();
    for costs in [costs, costs.with_overhead(3.0).unwrap()] {
        let problem = Problem::new(Operation::Alltoall, sizes.clone(), costs).unwrap();
        let comparison = compared(&problem, false);
        for construction in [Construction::Linear, Construction::Pairwise] {
            let mut outcomes = comparison.outcomes.iter();
            let outcome = outcomes.find(|outcome| outcome.construction == construction).unwrap();
            let Plan::Programs(programs) = outcome.plan() else { panic!("a tree") };
            let figures = (programs.most_actions(), programs.most_bytes_sent());
            let schedule = outcome.plan().schedule(&problem).unwrap();
            assert_eq!(figures, (schedule.most_actions(), schedule.most_bytes_sent()));
            let time = |duplex| {
                let timeline = simulate_on(&schedule, duplex, &costs, Sends::Synchronous);
                timeline.unwrap().completion_time()
            };
            let duplex = schedule.task().duplex;
            assert_eq!(outcome.time(), time(duplex), "{construction:?}");
            assert_eq!(outcome.otherwise, Some(time(true)), "{construction:?}");
        }
    }
}
