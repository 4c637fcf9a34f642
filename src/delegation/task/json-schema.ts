import { z } from 'zod';
import { taskResponseSchema } from './response.js';
import { delegatedTaskSchema } from './schema.js';

/** What may be delegated, for whoever writes it by hand or has a model write it: most of it may be left out. */
export function delegatedTaskJsonSchema(): object {
  return jsonSchemaOf(delegatedTaskSchema, 'DelegatedTask');
}

/** What a worker that writes JSON may answer. */
export function taskResponseJsonSchema(): object {
  return jsonSchemaOf(taskResponseSchema, 'TaskResponse');
}

/** As it is written, so that a default makes a field optional. */
export function jsonSchemaOf(schema: z.ZodType, title: string): object {
  return { title, ...z.toJSONSchema(schema, { io: 'input', reused: 'inline' }) };
}
