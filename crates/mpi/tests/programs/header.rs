//! The header against the table of MPI functions.

use tuwtree_binding::{mpi_functions, mpi_signature};

/// A function of the library: name, form, parameters before the communicator with their types in Rust.
type Prototype = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

macro_rules! prototypes {
    ($($function:ident $form:ident $width:ident [$($mpi:ident)*] [$($name:ident)*];)*) => {
        vec![$($(mpi_signature! { $function $width prototypes (@ $form $name) },)*)*]
    };
    ((@ $form:ident $name:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        (stringify!($name), stringify!($form), &[$((stringify!($argument), stringify!($type))),*])
    };
}

/// A parameter as C declares it.
fn in_c((name, rust): (&str, &str)) -> String {
    match rust.replace("* ", "*").as_str() {
        "*const c_void" => format!("const void *{name}"),
        "*mut c_void" => format!("void *{name}"),
        "c_int" => format!("int {name}"),
        rust => match rust.strip_prefix("*const ") {
            Some("c_int") => format!("const int {name}[]"),
            Some(element) => format!("const {element} {name}[]"),
            None => format!("{rust} {name}"),
        },
    }
}

#[test]
fn the_header_declares_each_function_of_the_table_and_no_other() {
    let functions: Vec<Prototype> = mpi_functions! { prototypes };
    assert!(functions.len() > 30, "{functions:?}");
    let header = include_str!("../../include/tuwtree_mpi.h");
    let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, form, parameters) in &functions {
        let mut declared: Vec<String> = parameters.iter().copied().map(in_c).collect();
        declared.push("MPI_Comm comm".to_owned());
        if *form == "init" {
            declared.push("tuwtree_request *request".to_owned());
        }
        let prototype = format!("int {name}({});", declared.join(", "));
        assert!(header.contains(&prototype), "{prototype}");
    }
    let collective = header.matches("MPI_Datatype sendtype").count()
        + header.matches("MPI_Datatype datatype").count();
    assert_eq!(collective, functions.len(), "collective functions in the header");
}
