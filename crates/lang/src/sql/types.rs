//! The types of the grammar, and which of them accept which others.

use crate::{Signatures, TypeId};

/// The types; [`super::rules`] has an overview.
pub(super) struct SqlTypes {
    pub(super) query: TypeId,
    pub(super) body: TypeId,
    pub(super) select: TypeId,
    /// Several selects, combined by set operators.
    pub(super) compound: TypeId,
    pub(super) rows: TypeId,
    pub(super) from: TypeId,
    pub(super) source: TypeId,
    pub(super) outputs: TypeId,
    pub(super) output_list: TypeId,
    pub(super) output: TypeId,
    /// The keys of `GROUP BY`.
    pub(super) keys: TypeId,
    /// The keys of `ORDER BY` in a query with one select.
    pub(super) order: TypeId,
    pub(super) order_key: TypeId,
    /// The keys of `ORDER BY` in a compound.
    pub(super) output_order: TypeId,
    pub(super) output_key: TypeId,
    pub(super) limit: TypeId,
    /// A table in `FROM`, as in `t.*`.
    pub(super) table: TypeId,
    /// A column of the nearest scope that has its table: of numbers, of text, of anything else. An array in the order
    /// of [`super::rules::ColumnClass`].
    pub(super) occurrences: [TypeId; 3],
    /// A column of any scope, in the same order.
    pub(super) references: [TypeId; 3],
    /// The index of an output of a query in `FROM`.
    pub(super) field: TypeId,
    pub(super) field_occurrence: TypeId,
    pub(super) field_reference: TypeId,
    pub(super) number: TypeId,
    pub(super) text: TypeId,
    /// `Loose` without conditions.
    pub(super) plain: TypeId,
    /// An expression whose type is unknown, or a condition used as a value.
    pub(super) loose: TypeId,
    pub(super) number_literal: TypeId,
    pub(super) quoted_literal: TypeId,
    pub(super) word_literal: TypeId,
    pub(super) text_literal: TypeId,
    pub(super) expr: TypeId,
    /// Any expression except a literal.
    pub(super) computed: TypeId,
    pub(super) not_number: TypeId,
    pub(super) not_word: TypeId,
    pub(super) not_condition: TypeId,
    /// An argument of `SUM` or `AVG`.
    pub(super) summable: TypeId,
    /// An element of `IN (…)`: a constant or a column, because a query would be read as the whole list.
    pub(super) element: TypeId,
    pub(super) element_list: TypeId,
    pub(super) number_element: TypeId,
    pub(super) number_element_list: TypeId,
    pub(super) any_column: TypeId,
    /// The right side of `LIKE`.
    pub(super) pattern: TypeId,
    pub(super) condition: TypeId,
    pub(super) comparison: TypeId,
    /// A condition that is neither a comparison, nor a value, nor made of other conditions.
    pub(super) test: TypeId,
    /// A value used as a condition.
    pub(super) holds: TypeId,
    /// Any condition except a value.
    pub(super) proper: TypeId,
    /// A conjunction.
    pub(super) and: TypeId,
    pub(super) or: TypeId,
    pub(super) not: TypeId,
    /// Any condition except a conjunction.
    pub(super) not_and: TypeId,
    pub(super) not_or: TypeId,
    /// A condition that `NOT` may precede: no comparison, which has its own negation, and no `NOT`.
    pub(super) negatable: TypeId,
}

impl SqlTypes {
    /// Returns the types of parts in which few queries name a literal.
    pub(super) fn without_literals(&self) -> Vec<TypeId> {
        let mut types = vec![
            self.from,
            self.source,
            self.outputs,
            self.output_list,
            self.output,
            self.keys,
            self.order,
            self.order_key,
            self.output_order,
            self.output_key,
            self.table,
            self.field,
            self.field_occurrence,
            self.field_reference,
            self.computed,
            self.summable,
            self.any_column,
        ];
        types.extend(self.occurrences.iter().chain(&self.references));
        types
    }

    pub(super) fn new(s: &mut Signatures) -> Self {
        let query = s.root();
        let mut ty = |name: &str| s.add_type(name);
        let t = SqlTypes {
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
        for (wide, narrow) in t.subtypes() {
            s.accept_type(wide, narrow);
        }
        t
    }

    /// Returns pairs of a type and one of its subtypes.
    fn subtypes(&self) -> Vec<(TypeId, TypeId)> {
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
