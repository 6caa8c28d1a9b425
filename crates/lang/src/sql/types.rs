//! The types of the language, and which accept which.

use crate::{Signatures, TypeId};

/// The types; see [`super::rules`].
pub(super) struct Types {
    pub(super) query: TypeId,
    pub(super) body: TypeId,
    pub(super) select: TypeId,
    /// Several selects combined.
    pub(super) compound: TypeId,
    pub(super) rows: TypeId,
    pub(super) from: TypeId,
    pub(super) source: TypeId,
    pub(super) outputs: TypeId,
    pub(super) output_list: TypeId,
    pub(super) output: TypeId,
    /// What rows are grouped by.
    pub(super) keys: TypeId,
    /// What a select is sorted by.
    pub(super) order: TypeId,
    pub(super) order_key: TypeId,
    /// What a compound is sorted by.
    pub(super) output_order: TypeId,
    pub(super) output_key: TypeId,
    pub(super) limit: TypeId,
    /// A table of `FROM`.
    pub(super) table: TypeId,
    /// A column of the nearest scope that has its table: of numbers, of text, of anything else.
    pub(super) occurrences: [TypeId; 3],
    /// The same of any scope.
    pub(super) references: [TypeId; 3],
    /// The place of an output.
    pub(super) field: TypeId,
    pub(super) field_occurrence: TypeId,
    pub(super) field_reference: TypeId,
    pub(super) number: TypeId,
    pub(super) text: TypeId,
    /// `Loose` but for conditions.
    pub(super) plain: TypeId,
    pub(super) loose: TypeId,
    pub(super) number_literal: TypeId,
    pub(super) quoted_literal: TypeId,
    pub(super) word_literal: TypeId,
    pub(super) text_literal: TypeId,
    pub(super) expr: TypeId,
    /// Anything but a literal.
    pub(super) computed: TypeId,
    pub(super) not_number: TypeId,
    pub(super) not_word: TypeId,
    pub(super) not_condition: TypeId,
    pub(super) summable: TypeId,
    /// Elements of `IN`: constants and columns, as a query there would be read as the whole list.
    pub(super) element: TypeId,
    pub(super) element_list: TypeId,
    pub(super) number_element: TypeId,
    pub(super) number_element_list: TypeId,
    pub(super) any_column: TypeId,
    pub(super) pattern: TypeId,
    pub(super) condition: TypeId,
    pub(super) comparison: TypeId,
    /// A test that is no comparison.
    pub(super) test: TypeId,
    /// A value as a condition.
    pub(super) holds: TypeId,
    /// A condition that is no mere value.
    pub(super) proper: TypeId,
    pub(super) and: TypeId,
    pub(super) or: TypeId,
    pub(super) not: TypeId,
    pub(super) not_and: TypeId,
    pub(super) not_or: TypeId,
    pub(super) negatable: TypeId,
}

impl Types {
    pub(super) fn new(s: &mut Signatures) -> Self {
        let query = s.root();
        let mut ty = |name: &str| s.ty(name);
        let t = Types {
            query,
            body: ty("Body"),
            select: ty("Select"),
            compound: ty("Compound"),
            rows: ty("Rows"),
            from: ty("From"),
            source: ty("Source"),
            outputs: ty("Outputs"),
            output_list: ty("OutputList"),
            output: ty("Output"),
            keys: ty("Keys"),
            order: ty("Order"),
            order_key: ty("OrderKey"),
            output_order: ty("OutputOrder"),
            output_key: ty("OutputKey"),
            limit: ty("Limit"),
            table: ty("Table"),
            occurrences: ["NumberColumn", "TextColumn", "LooseColumn"].map(&mut ty),
            references: ["NumberReference", "TextReference", "LooseReference"].map(&mut ty),
            field: ty("Field"),
            field_occurrence: ty("FieldOccurrence"),
            field_reference: ty("FieldReference"),
            number: ty("Number"),
            text: ty("Text"),
            plain: ty("Plain"),
            loose: ty("Loose"),
            number_literal: ty("NumberLiteral"),
            quoted_literal: ty("QuotedLiteral"),
            word_literal: ty("WordLiteral"),
            text_literal: ty("TextLiteral"),
            expr: ty("Expr"),
            computed: ty("Computed"),
            not_number: ty("NotNumber"),
            not_word: ty("NotWord"),
            not_condition: ty("NotCondition"),
            summable: ty("Summable"),
            element: ty("Element"),
            element_list: ty("ElementList"),
            number_element: ty("NumberElement"),
            number_element_list: ty("NumberElementList"),
            any_column: ty("AnyColumn"),
            pattern: ty("Pattern"),
            condition: ty("Condition"),
            comparison: ty("Comparison"),
            test: ty("Test"),
            holds: ty("Holds"),
            proper: ty("ProperCondition"),
            and: ty("And"),
            or: ty("Or"),
            not: ty("Not"),
            not_and: ty("NotAnd"),
            not_or: ty("NotOr"),
            negatable: ty("Negatable"),
        };
        for (wide, narrow) in t.inclusions() {
            s.includes(wide, narrow);
        }
        t
    }

    fn inclusions(&self) -> Vec<(TypeId, TypeId)> {
        let t = self;
        let lists: &[(TypeId, &[TypeId])] = &[
            (t.query, &[t.body]),
            (t.body, &[t.select, t.compound]),
            (t.rows, &[t.from]),
            (t.from, &[t.source]),
            (t.source, &[t.query]),
            (t.outputs, &[t.output_list]),
            (t.output_list, &[t.output]),
            (t.output, &[t.expr]),
            (t.keys, &[t.computed]),
            (t.order, &[t.order_key]),
            (t.order_key, &[t.computed]),
            (t.output_order, &[t.output_key]),
            (t.output_key, &[t.field]),
            (t.limit, &[t.number_literal]),
            (t.field_reference, &[t.field_occurrence]),
            (t.field_occurrence, &[t.field]),
            (t.references[0], &[t.occurrences[0]]),
            (t.references[1], &[t.occurrences[1]]),
            (t.references[2], &[t.occurrences[2]]),
            (t.number, &[t.references[0]]),
            (t.text, &[t.references[1]]),
            (t.plain, &[t.references[2], t.field_reference, t.query]),
            (t.loose, &[t.plain]),
            (t.text_literal, &[t.quoted_literal, t.word_literal]),
            (t.computed, &[t.number, t.text, t.loose]),
            (t.expr, &[t.computed, t.number_literal, t.text_literal]),
            (t.not_number, &[t.text, t.loose]),
            (t.not_word, &[t.computed, t.number_literal, t.quoted_literal]),
            (t.not_condition, &[t.number, t.text, t.plain, t.number_literal, t.text_literal]),
            (t.summable, &[t.number, t.loose, t.number_literal]),
            (t.any_column, &[t.references[0], t.references[1], t.references[2], t.field_reference]),
            (t.element, &[t.any_column, t.number_literal, t.text_literal]),
            (t.element_list, &[t.element]),
            (t.number_element, &[t.any_column, t.number_literal, t.quoted_literal]),
            (t.number_element_list, &[t.number_element]),
            (t.pattern, &[t.expr]),
            (t.proper, &[t.comparison, t.test, t.and, t.or, t.not]),
            (t.condition, &[t.proper, t.holds]),
            (t.not_and, &[t.comparison, t.test, t.holds, t.or, t.not]),
            (t.not_or, &[t.comparison, t.test, t.holds, t.and, t.not]),
            (t.negatable, &[t.test, t.holds, t.and, t.or]),
        ];
        lists.iter().flat_map(|(wide, narrow)| narrow.iter().map(|narrow| (*wide, *narrow))).collect()
    }
}
