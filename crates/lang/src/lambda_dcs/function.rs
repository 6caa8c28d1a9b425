//! The functions of SEMPRE's `SimpleWorld`, which the programs of Overnight call.

/// The class whose functions programs call.
pub(super) const CLASS: &str = "edu.stanford.nlp.sempre.overnight.SimpleWorld.";
/// The abbreviation of [`CLASS`] in programs.
pub(super) const SHORT_CLASS: &str = "SW.";

macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A function that programs can call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Function {
            $($(#[$doc])* $variant,)*
        }

        impl Function {
            /// Every function.
            pub const ALL: &[Function] = &[$(Function::$variant,)*];

            /// Returns the name that programs use.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// Returns the function with this name.
            pub fn from_name(name: &str) -> Option<Function> {
                match name {
                    $($name => Some(Function::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

functions! {
    /// Makes a list of one value.
    Singleton = "SW.singleton",
    /// Returns all entities that have the property.
    Domain = "SW.domain",
    /// Reverses a property.
    Reverse = "SW.reverse",
    /// Concatenates two values or two lists.
    Concat = "SW.concat",
    /// Returns its property, and fails unless it has numeric values.
    EnsureNumericProperty = "SW.ensureNumericProperty",
    /// Returns its value or list, and fails unless it is numeric.
    EnsureNumericEntity = "SW.ensureNumericEntity",
    /// Selects the entities whose property holds, or compares with a value.
    Filter = "SW.filter",
    /// Selects the entities with the least or greatest value of a property.
    Superlative = "SW.superlative",
    /// Selects the entities with the fewest or most values of a property.
    CountSuperlative = "SW.countSuperlative",
    /// Selects the entities by the number of values of a property.
    CountComparative = "SW.countComparative",
    /// Returns the sum of numbers.
    Sum = "SW.sum",
    /// Returns the sum or the average of numbers, with their unit.
    Aggregate = "SW.aggregate",
    /// Returns the values of a property.
    GetProperty = "SW.getProperty",
    /// Adds, subtracts, multiplies or divides numbers.
    ArithOp = "SW.arithOp",
    /// Makes the answer, a sorted list.
    ListValue = "SW.listValue",
    /// Returns the number of pairs of entity and property in the world.
    SizeOfDb = "SW.sizeofDB",
    /// Returns the length of a list.
    Size = ".size",
}
