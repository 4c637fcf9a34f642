import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { expect, test } from 'vitest';
import {
  delegatedTaskJsonSchema,
  taskResponseJsonSchema,
} from '../../../src/delegation/task/json-schema.js';
import { todoUpdateJsonSchema } from '../../../src/task/todo/todo-update.js';

const documents: [file: string, schema: object][] = [
  ['delegated-task', delegatedTaskJsonSchema()],
  ['task-response', taskResponseJsonSchema()],
];

/** Made anew by `npx vitest run -u` of this file. */
test.each(documents)('proto/%s.schema.json is what the program reads', async (name, schema) => {
  const file = fileURLToPath(new URL(`../../../proto/${name}.schema.json`, import.meta.url));
  const { code } = await format(file, JSON.stringify(schema), { printWidth: 100 });
  await expect(code).toMatchFileSnapshot(file);
});

test.each([...documents, ['sigma-task-update', todoUpdateJsonSchema()]] as const)(
  'every field of %s is described',
  (_, schema) => {
    const fields = fieldsOf(schema, '');
    expect(fields.length).toBeGreaterThan(10);
    expect(fields.filter(({ described }) => !described).map(({ path }) => path)).toEqual([]);
  },
);

interface Field {
  path: string;
  described: boolean;
}

/** Every property at any depth. */
function fieldsOf(schema: any, path: string): Field[] {
  const inner = [schema.items, ...(schema.anyOf ?? [])].filter((each) => each !== undefined);
  const properties = Object.entries<any>(schema.properties ?? {});
  return [
    ...inner.flatMap((each) => fieldsOf(each, `${path}[]`)),
    ...properties.flatMap(([name, its]) => [
      { path: `${path}.${name}`, described: (its.description ?? '') !== '' },
      ...fieldsOf(its, `${path}.${name}`),
    ]),
  ];
}
