import { type Zod } from '../base/lazy-schema.js';

const rolesMax = 64;
const patternsMax = 64;
const pattern = (z: Zod) =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^*\s]*\*?$/, '`*` may only stand at the end');
const patterns = (z: Zod) => z.array(pattern(z)).max(patternsMax).readonly();
const recipient = (z: Zod) =>
  pattern(z).regex(
    /^(\*|(agent|service|role|topic):.+)$/,
    'it must be agent:…, service:…, role:…, topic:… or *',
  );

/** What replaces the default rule of a role, field by field; `*` is every role that has none. */
export const permissionsSchema = (z: Zod) =>
  z
    .record(
      z.string().regex(/^(\*|[a-z0-9][a-z0-9_-]{0,95})$/, 'it must be a role, or *'),
      z
        .strictObject({
          send: z
            .array(z.strictObject({ to: recipient(z), types: patterns(z) }).readonly())
            .max(patternsMax)
            .readonly(),
          offer: patterns(z),
          publish: patterns(z),
          administer: patterns(z),
          framesPerS: z.number().int().min(1).max(1e9),
          bytesPerS: z.number().int().min(1_024).max(1e12),
          isHosted: z.boolean(),
        })
        .partial()
        .readonly(),
    )
    .refine((roles) => Object.keys(roles).length <= rolesMax, `more than ${rolesMax} roles`)
    .readonly();
