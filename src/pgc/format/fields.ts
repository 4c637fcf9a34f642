/**
 * Fields of a document. `name`: the symbol's name and its sub-words. `path`: of the file. `body`: words inside the
 * symbol.
 */
export const fields = ['name', 'path', 'signature', 'doc', 'body'] as const;
export type FieldName = (typeof fields)[number];
/** Index in `fields`. */
export type Field = 0 | 1 | 2 | 3 | 4;
export const fieldOf = Object.fromEntries(fields.map((name, field) => [name, field])) as Record<
  FieldName,
  Field
>;
