// Tools of the suite, as operations: what our entrances and our way of calling tools do with them.
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { BusError } from '../../../dist/src/errors/bus-error.js';
import { looks, plain } from '../../../dist/src/operations/operation.js';

const said = (text) => plain({}, text);
const nothing = z.strictObject({});

function tool(name, run, { input = nothing, isLong } = {}) {
  return {
    ...{ name, title: name, description: `${name} of the conformance suite.`, doing: name },
    ...{ input, output: z.looseObject({}), annotations: looks, run },
    ...(isLong === true && { isLong }),
  };
}

const form = (fields) => z.object(fields);
const asked = (key, message, fields) => ({
  key,
  message,
  form: form(fields),
  command: 'sigma gate',
});

async function fail() {
  throw new BusError('NOT_FOUND', { what: 'This tool intentionally returns an error for testing' });
}

const name = asked('user_name', 'What is your name?', { name: z.string() });

export const rehearsed = [
  tool('test_simple_text', async () => said('This is a simple text response for testing.')),
  tool('test_error_handling', fail),
  tool('test_tool_with_progress', async (_, { tell }) => {
    for (const step of ['first', 'second', 'third']) {
      tell(step);
      await wait(50);
    }
    return said('done');
  }),
  tool(
    'test_elicitation',
    async ({ message }, { person }) => {
      const fields = {
        username: z.string().describe("User's response"),
        email: z.string().describe("User's email address"),
      };
      return said(
        `User response: ${JSON.stringify(person(asked('user', message, fields)) ?? null)}`,
      );
    },
    { input: z.strictObject({ message: z.string() }) },
  ),
  tool('test_elicitation_sep1034_defaults', async (_, { person }) => {
    const answer = person(
      asked('defaults', 'Please check', {
        name: z.string().default('John Doe'),
        age: z.int().default(30),
        score: z.number().default(95.5),
        status: z.enum(['active', 'inactive', 'pending']).default('active'),
        verified: z.boolean().default(true),
      }),
    );
    return said(`Elicitation completed: ${JSON.stringify(answer ?? null)}`);
  }),
  tool('test_input_required_result_elicitation', async (_, { person }) =>
    said(`Hello, ${person(name)?.name ?? 'stranger'}!`),
  ),
  tool('greet', async ({ name: whom }) => said(`Hello, ${whom}!`), {
    input: z.strictObject({ name: z.string() }),
  }),
  tool(
    'slow_compute',
    async ({ seconds, label }, { signal, tell }) => {
      tell(`${seconds} s`);
      await wait(seconds * 1_000, undefined, { signal });
      return said(`${label} computed`);
    },
    {
      input: z.strictObject({ seconds: z.number().max(60), label: z.string().default('') }),
      isLong: true,
    },
  ),
  tool(
    'failing_job',
    async (_, { signal }) => {
      await wait(1_000, undefined, { signal });
      return fail();
    },
    { isLong: true },
  ),
  tool(
    'confirm_delete',
    async ({ filename }, { ask, signal }) => {
      const question = asked('confirm', `Delete ${filename}?`, { confirm: z.boolean() });
      const answer = await ask?.(question, signal);
      return said(answer?.confirm === true ? `deleted ${filename}` : `kept ${filename}`);
    },
    { input: z.strictObject({ filename: z.string().default('file') }), isLong: true },
  ),
  tool(
    'multi_input',
    async (_, { ask, signal }) => {
      const of = (what) => ask?.(asked(what, `Your ${what}?`, { value: z.string() }), signal);
      const answers = await Promise.all([of('name'), of('colour')]);
      return said(answers.map((each) => each?.value ?? 'nothing').join(', '));
    },
    { isLong: true },
  ),
  tool(
    'test_tool_with_task',
    async (_, { person, signal }) => {
      const whom = person(name)?.name ?? 'stranger';
      await wait(1_000, undefined, { signal });
      return said(`Hello, ${whom}!`);
    },
    { isLong: true },
  ),
];
