import { isMap, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { BusError } from '../../errors/bus-error.js';
import { inOurWords, objectionOf } from '../../errors/objection.js';
import { upstreamShape } from '../session/upstream.js';
import { severities, signals, type Severity, type Signal } from '../shapes.js';
import { compilePattern, compileUnless } from './command-pattern.js';
import { compileOption } from './options.js';

/**
 * The tables of harmless, dangerous and opaque commands, and what else an operator may set. The shipped files are in `tables/`;
 * an operator's file has the same shape, all of it optional, and makes it stricter (Rule 8: the stricter classification applies).
 */

/** Of an operator's file. */
export const policyBytesMax = 256 * 1024;
const listMax = 1_000;
const textMax = 4_000;
const allowMax = 200;
const allowWordsMax = 32;
/** The last word of an allowed command that covers any further arguments. */
export const anyMore = '...';

const text = z.string().min(1).max(textMax);
const texts = z.array(text).max(listMax);
const regex = text.refine(isRegex, 'is no regular expression');
const commandPattern = text.refine(
  compiles((source) => compilePattern(source)),
  'is no command pattern',
);
const commandPatterns = z.array(commandPattern).min(1).max(listMax);
const unlessToken = text.refine(compiles(compileUnless), 'is neither an option nor an expression');
const option = text.refine(compiles(compileOption), 'is no option');
const options = z.array(option).max(listMax);
const signal = z.enum(signals);
const severity = z.enum(severities);
const promotion = z.enum(['production', 'irreversible']);

const ruleShape = z.strictObject({
  rule: text,
  signal,
  /** Why it is dangerous, as a person reads it at a gate. */
  reason: text.optional(),
  /** Absent: the one of the signal. */
  severity: severity.optional(),
  /** Absent: whether its signal is Irreversibility. */
  irreversible: z.boolean().optional(),
  /** Found besides, with the severities of their own. */
  also: z.array(signal).max(4).optional(),
  /** Its effect is on the files that it names. */
  local: z.boolean().optional(),
  /** Nothing is lost where git has these files unchanged, or where they are caches. */
  loses: z.literal('files').optional(),
  match: commandPatterns,
  unless: z.array(unlessToken).max(listMax).optional(),
});

const writesShape = z.strictObject({
  operands: z.enum(['all', 'tree', 'last', 'moved', 'rest', 'second', 'none']).default('none'),
  /** Whose value is written. */
  options: options.optional(),
  /** Only with one of these options; not with those. */
  when: options.optional(),
  unless: options.optional(),
  overwrites: z.boolean().optional(),
  /** With one of these nothing is lost; with one of those nothing is left. */
  adds: options.optional(),
  empties: options.optional(),
  /** What is in the file stays as it is. */
  keeps: z.boolean().optional(),
  /** What it makes may be a link. */
  links: z.boolean().optional(),
});

const harmlessShape = z.strictObject({
  match: commandPatterns,
  options: z.union([z.literal('any'), options]).default([]),
  not: options.optional(),
  requires: options.optional(),
  operands: z
    .union([
      z.enum([
        ...['paths', 'text', 'format', 'words', 'names', 'refs', 'git'],
        ...['expression', 'mode', 'date', 'url', 'none'],
      ] as const),
      z.templateLiteral(['/', z.string().min(1).max(textMax), '/']).refine(isRegex),
    ])
    .default('paths'),
  writes: writesShape.optional(),
  /** It changes the repository in whose folder it runs. */
  changes: z.boolean().optional(),
  /** Which hooks git may run with it. */
  hooks: z.union([z.literal('any'), texts]).optional(),
});

const variableShape = z.strictObject({
  names: texts,
  why: text,
  /** Absent: any plain text, no path that leads out of a folder. */
  values: z.array(z.string().max(textMax)).max(listMax).optional(),
});

const opaqueShape = z.strictObject({
  match: commandPatterns,
  reason: text,
  scripts: z.boolean().optional(),
  files: texts.optional(),
  code: options.optional(),
});

const wrapperShape = z.strictObject({
  match: commandPatterns,
  options: options.default([]),
  skip: z.int().min(0).max(8).optional(),
  assignments: z.boolean().optional(),
  appends: z.boolean().optional(),
});

const allowShape = z.strictObject({
  /** The whole argument list; * stands for anything but `/`, a last `...` for any further arguments. */
  command: z
    .array(z.string().min(1).max(textMax))
    .min(1)
    .max(allowWordsMax)
    .refine(([program = '']) => !program.includes('*') && program !== anyMore, 'names no program')
    .refine((words) => !words.slice(0, -1).includes(anyMore), `has ${anyMore} before its end`),
  /** Folder below the root; absent: any. */
  in: text.optional(),
  why: text,
});

const grammarShape = z.strictObject({
  leading: texts.optional(),
  valued: texts.optional(),
  single_dash: z.boolean().optional(),
});

const signalShape = z.strictObject({ severity, promote: z.array(promotion).max(2) });

const shape = z.strictObject({
  version: z.literal(1),
  signals: z.record(signal, signalShape),
  compound: z.int().min(2).max(16),
  on_expiry: z.enum(['halt', 'withdraw']),
  gate_expires: text.refine((value) => durationMs(value) !== undefined, 'is no duration, as 30m'),
  sizes: z.strictObject({ argument_chars: z.int().min(100).max(1_000_000) }),
  allow: z.array(allowShape).max(allowMax),
  environments: z.strictObject({
    ...{ production: texts, staging: texts, development: texts, test: texts, variables: texts },
  }),
  variables: z.strictObject({
    ...{ unchanging: z.array(variableShape).max(listMax), changing: texts, secret: regex },
  }),
  paths: z.strictObject({
    ...{ secret: texts, public: texts, scratch: texts, configs: texts, startup: texts },
    ...{ data: texts, rebuildable: texts },
  }),
  http: z.strictObject({ human: z.array(regex).max(listMax) }),
  programs: z.record(text, grammarShape),
  upstream: upstreamShape,
  injection: z.array(regex).max(listMax),
  rules: z.array(ruleShape).max(listMax),
  harmless: z.array(harmlessShape).max(listMax),
  option_groups: z.record(text, options),
  leading: z.record(text, options),
  wrappers: z.array(wrapperShape).max(listMax),
  versions: texts,
  hooks: z.strictObject({
    ...{ folders: texts, files: texts, settings: text, head: text, plain_settings: texts },
  }),
  opaque: z.array(opaqueShape).max(listMax),
});

/** Of an operator: rows and words are added, severities raised, rows of `harmless` taken away, opaque commands allowed. */
const operatorShape = z.strictObject({
  version: z.literal(1).optional(),
  signals: z
    .partialRecord(
      signal,
      z.strictObject({
        severity: severity.optional(),
        promote: z.array(promotion).max(2).optional(),
      }),
    )
    .optional(),
  compound: shape.shape.compound.optional(),
  on_expiry: shape.shape.on_expiry.optional(),
  gate_expires: shape.shape.gate_expires.optional(),
  sizes: shape.shape.sizes.partial().optional(),
  allow: shape.shape.allow.optional(),
  upstream: upstreamShape.optional(),
  variables: z.strictObject({ changing: texts.optional() }).optional(),
  environments: shape.shape.environments.partial().optional(),
  paths: z
    .strictObject({
      ...{ secret: texts.optional(), configs: texts.optional(), startup: texts.optional() },
      ...{ data: texts.optional(), rebuildable: texts.optional() },
    })
    .optional(),
  http: z.strictObject({ human: z.array(regex).max(listMax).optional() }).optional(),
  injection: shape.shape.injection.optional(),
  rules: shape.shape.rules.optional(),
  /** Commands that are harmless no longer: a program, or a program with a word. */
  not_harmless: z.array(commandPattern).max(listMax).optional(),
});

export type Policy = Readonly<z.infer<typeof shape>> & {
  readonly not_harmless: readonly string[];
};
export type OperatorPolicy = Readonly<z.infer<typeof operatorShape>>;
export type Rule = Policy['rules'][number];
export type HarmlessRow = Policy['harmless'][number];
export type OpaqueRow = Policy['opaque'][number];
export type Wrapper = Policy['wrappers'][number];
export type Allowance = Policy['allow'][number];

/** The whole policy, of a text in YAML. Throws ATTENTION_POLICY_INVALID with the path of the field. */
export function parsePolicy(source: string, file: string): Policy {
  return { ...parsed(shape, source, file), not_harmless: [] };
}

/** An operator's additions. Throws ATTENTION_POLICY_INVALID with the path of the field, TOO_LARGE. */
export function parseOperatorPolicy(source: string, file: string): OperatorPolicy {
  return parsed(operatorShape, source, file);
}

/** The stricter of both wins; only `allow` and `rebuildable`, which a person lists knowingly, relax anything. */
export function mergePolicies(base: Policy, operator: OperatorPolicy): Policy {
  return {
    ...base,
    signals: mergedSignals(base.signals, operator.signals ?? {}),
    compound: Math.min(base.compound, operator.compound ?? base.compound),
    on_expiry: operator.on_expiry ?? base.on_expiry,
    gate_expires: operator.gate_expires ?? base.gate_expires,
    sizes: { argument_chars: operator.sizes?.argument_chars ?? base.sizes.argument_chars },
    allow: [...base.allow, ...(operator.allow ?? [])],
    upstream: { rules: [...base.upstream.rules, ...(operator.upstream?.rules ?? [])] },
    variables: joined(base.variables, operator.variables ?? {}),
    environments: joined(base.environments, operator.environments ?? {}),
    paths: joined(base.paths, operator.paths ?? {}),
    http: joined(base.http, operator.http ?? {}),
    injection: [...base.injection, ...(operator.injection ?? [])],
    rules: mergedRules(base.rules, operator.rules ?? []),
    not_harmless: [...base.not_harmless, ...(operator.not_harmless ?? [])],
  };
}

/** Milliseconds of `30m`, `24h`, `90s`, `7d`. */
export function durationMs(value: string): number | undefined {
  const found = /^(\d{1,6})(s|m|h|d)$/.exec(value);
  if (found === null) return undefined;
  const unit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[found[2] ?? ''] ?? 0;
  return Number(found[1]) * unit;
}

export function severityOf(policy: Policy, of: Signal, stated?: Severity): Severity {
  return stated ?? policy.signals[of].severity;
}

function mergedSignals(
  base: Policy['signals'],
  operator: NonNullable<OperatorPolicy['signals']>,
): Policy['signals'] {
  const merged = { ...base };
  for (const each of signals) {
    const { severity: raised, promote = [] } = operator[each] ?? {};
    merged[each] = {
      severity: raised === 'Gate' ? 'Gate' : base[each].severity,
      promote: [...new Set([...base[each].promote, ...promote])],
    };
  }
  return merged;
}

/** A row of a name that exists adds its patterns to it, and may raise its severity: exceptions are never added. */
function mergedRules(base: readonly Rule[], operator: readonly Rule[]): Rule[] {
  return [...base, ...operator].map((rule, at, all) => {
    const stricter = all.slice(base.length).some((other, index) => {
      const isSame = other.rule === rule.rule && other.signal === rule.signal;
      return isSame && index + base.length !== at && other.severity === 'Gate';
    });
    return stricter ? { ...rule, severity: 'Gate' } : rule;
  });
}

function joined<T extends object>(base: T, operator: Partial<Record<keyof T, unknown>>): T {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(base));
  for (const [key, value] of Object.entries(operator)) {
    const own = merged[key];
    if (Array.isArray(own) && Array.isArray(value))
      merged[key] = [...new Set<unknown>([...(own as unknown[]), ...(value as unknown[])])];
  }
  return merged as T;
}

function parsed<T>(wanted: z.ZodType<T>, source: string, file: string): T {
  const bytes = Buffer.byteLength(source);
  if (bytes > policyBytesMax)
    throw new BusError('TOO_LARGE', { what: file, bytes, limit: policyBytesMax });
  const document = parseDocument(source, { uniqueKeys: true, stringKeys: true });
  const [error] = document.errors;
  if (error !== undefined) throw invalid(file, '', error.message.split('\n')[0] ?? '');
  // An alias can make a small file a huge value.
  visit(document, {
    Alias: () => {
      throw invalid(file, '', 'aliases are not read');
    },
  });
  quoteScalars(document.contents);
  const answer = wanted.safeParse(document.toJS() ?? {}, inOurWords);
  if (answer.success) return answer.data;
  const { field, why } = objectionOf(answer.error);
  throw invalid(file, field, why);
}

/** What looks like a number among words is a word: `777` of a list of patterns. */
function quoteScalars(node: unknown): void {
  if (isMap(node)) for (const pair of node.items) if (isPair(pair)) quoteScalars(pair.value);
  if (!isSeq(node)) return;
  for (const item of node.items) {
    if (isScalar(item) && typeof item.value !== 'string') item.value = item.source ?? '';
    else quoteScalars(item);
  }
}

function invalid(file: string, field: string, detail: string): BusError {
  const at = field === '' ? '' : `${field}: `;
  return new BusError('ATTENTION_POLICY_INVALID', { file, field, detail: `${at}${detail}` });
}

function isRegex(value: string): boolean {
  return compiles((source) => new RegExp(source, 'i'))(value);
}

function compiles(compile: (source: string) => unknown): (source: string) => boolean {
  return (source) => {
    try {
      compile(source);
      return true;
    } catch {
      return false;
    }
  };
}
