import { z } from 'zod';

const rolesMax = 64;
const patternsMax = 64;
const pattern = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^*\s]*\*?$/, '`*` may only stand at the end');
const patterns = z.array(pattern).max(patternsMax).readonly();
const recipient = pattern.regex(
  /^(\*|(agent|service|role|topic):.+)$/,
  'it must be agent:…, service:…, role:…, topic:… or *',
);

/** What replaces the default rule of a role, field by field; `*` is every role that has none. */
export const permissionsSchema = z
  .record(
    z.string().regex(/^(\*|[a-z0-9][a-z0-9_-]{0,95})$/, 'it must be a role, or *'),
    z
      .strictObject({
        send: z
          .array(z.strictObject({ to: recipient, types: patterns }).readonly())
          .max(patternsMax)
          .readonly(),
        offer: patterns,
        publish: patterns,
        administer: patterns,
        framesPerS: z.number().int().min(1).max(1e9),
        bytesPerS: z.number().int().min(1_024).max(1e12),
      })
      .partial()
      .readonly(),
  )
  .refine((roles) => Object.keys(roles).length <= rolesMax, `more than ${rolesMax} roles`)
  .readonly();
