import { z } from 'zod';
import { taskResponseSchema } from './response.js';
import { delegatedTaskSchema } from './schema.js';

/** The JSON schema of a task, for people and models that write one: most fields are optional. */
export function delegatedTaskJsonSchema(): object {
  return jsonSchemaOf(delegatedTaskSchema, 'DelegatedTask');
}

/** The JSON schema of a response, for workers that answer in JSON. */
export function taskResponseJsonSchema(): object {
  return jsonSchemaOf(taskResponseSchema, 'TaskResponse');
}

/** The schema of the input, so that a default makes a field optional. */
export function jsonSchemaOf(schema: z.ZodType, title: string): object {
  return { title, ...z.toJSONSchema(schema, { io: 'input', reused: 'inline' }) };
}
