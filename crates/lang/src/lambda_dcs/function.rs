//! The functions of Overnight's little world.

/// The class whose functions programs call.
pub(super) const CLASS: &str = "edu.stanford.nlp.sempre.overnight.SimpleWorld.";
/// How programs abbreviate it.
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

            /// How programs write it.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// The function that programs write as `name`.
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
    /// The list of one value.
    Singleton = "SW.singleton",
    /// All entities a property can be asked of.
    Domain = "SW.domain",
    /// A property read backwards.
    Reverse = "SW.reverse",
    /// Two values or two lists, one after the other.
    Concat = "SW.concat",
    /// A property, if it has numeric values.
    EnsureNumericProperty = "SW.ensureNumericProperty",
    /// A value or list, if it is numeric.
    EnsureNumericEntity = "SW.ensureNumericEntity",
    /// The entities whose property holds, or compares with a value.
    Filter = "SW.filter",
    /// The entities with the least or greatest value of a property.
    Superlative = "SW.superlative",
    /// The entities with the fewest or most values of a property.
    CountSuperlative = "SW.countSuperlative",
    /// The entities with a number of values of a property.
    CountComparative = "SW.countComparative",
    /// The sum of numbers.
    Sum = "SW.sum",
    /// The sum or the average of numbers, unit kept.
    Aggregate = "SW.aggregate",
    /// The values of a property.
    GetProperty = "SW.getProperty",
    /// Arithmetic on numbers.
    ArithOp = "SW.arithOp",
    /// The answer: a sorted list.
    ListValue = "SW.listValue",
    /// How many pairs of entity and property the world has.
    SizeOfDb = "SW.sizeofDB",
    /// The length of a list.
    Size = ".size",
}
