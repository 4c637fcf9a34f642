import type { FactsLanguage } from '../../../format/facts.js';

type EcmascriptLanguage = Extract<FactsLanguage, 'javascript' | 'typescript' | 'tsx'>;

const shared = `
(program) @program
[(function_declaration) (generator_function_declaration)] @function
(class_declaration) @class
(class) @classExpression
(method_definition) @method
[(lexical_declaration) (variable_declaration)] @variables
(assignment_expression left: (member_expression)) @assignment
(assignment_expression left: (subscript_expression object: (this))) @keyed
(assignment_expression left: (identifier)) @assign
(statement_block) @block
(for_statement) @block
(for_in_statement) @forIn
(catch_clause) @catch
(return_statement) @return
(pair value: [(arrow_function) (function_expression) (generator_function)]) @pair
[(arrow_function) (function_expression) (generator_function)] @scope
(export_statement) @export
(import_statement) @import
(call_expression function: (identifier) @call)
(call_expression function: (member_expression) @member)
(call_expression function: (subscript_expression) @computed)
(call_expression function: (parenthesized_expression) @wrapped)
(call_expression function: (import) @dynamicImport)
(call_expression function: (super) @super)
(new_expression constructor: (identifier) @construct)
(new_expression constructor: (member_expression) @constructMember)
(expression_statement (call_expression function: (_) @unused))
[(identifier) (shorthand_property_identifier) (member_expression)] @use
(ERROR) @error
`;
const typed = `
(abstract_class_declaration) @class
(call_expression function: (non_null_expression) @wrapped)
(function_signature) @functionSignature
[(method_signature) (abstract_method_signature)] @methodSignature
(public_field_definition value: [(arrow_function) (function_expression)]) @field
(public_field_definition) @property
(interface_body [(property_signature) (call_signature) (construct_signature) (index_signature)] @property)
(interface_declaration) @interface
(type_alias_declaration) @type
(enum_declaration) @enum
[(internal_module) (module)] @module
(type_identifier) @use
(ambient_declaration) @ambient
`;
const untyped = `
(field_definition value: [(arrow_function) (function_expression)]) @field
(field_definition) @property
`;
/** A component is used as a function is: naming it calls it. */
const elements = `
(jsx_opening_element name: (identifier) @element)
(jsx_self_closing_element name: (identifier) @element)
(jsx_opening_element name: (member_expression) @elementMember)
(jsx_self_closing_element name: (member_expression) @elementMember)
`;

export const ecmascriptQuery: Record<EcmascriptLanguage, string> = {
  javascript: shared + untyped + elements,
  typescript: shared + typed,
  tsx: shared + typed + elements,
};
