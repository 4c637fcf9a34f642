import { isMap, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { BusError } from '../../errors/bus-error.js';
import { upstreamShape } from '../session/upstream.js';
import { compilePattern, compileUnless } from './command-pattern.js';
import { severities, signals, type Severity, type Signal } from '../shapes.js';

/**
 * What is risky, and how risky: the taxonomy of the protocol as tables. The shipped file is `policy.yaml`; an operator's has
 * the same shape, all of it optional, and makes it stricter (Rule 8: the stricter classification applies).
 */

/** Of an operator's file. */
export const policyBytesMax = 256 * 1024;
/** Of any list of a policy, and of any text in it. */
const listMax = 1_000;
const textMax = 4_000;

const text = z.string().min(1).max(textMax);
const texts = z.array(text).max(listMax);
const regex = text.refine(isRegex, 'is no regular expression');
const commandPattern = text.refine(compiles(compilePattern), 'is no command pattern');
const unlessToken = text.refine(compiles(compileUnless), 'is neither a flag nor an expression');
const signal = z.enum(signals);
const severity = z.enum(severities);
const promotion = z.enum(['production', 'irreversible']);

const ruleShape = z.strictObject({
  rule: text,
  signal,
  /** Absent: the one of the signal. */
  severity: severity.optional(),
  /** Absent: whether its signal is Irreversibility. */
  irreversible: z.boolean().optional(),
  /** Found besides, by the severities of their own. */
  also: z.array(signal).max(4).optional(),
  /** Its effect is on the files that it names. */
  local: z.boolean().optional(),
  /**
   * What would be lost, so that it is seen where nothing is: `files` that its operands name, or
   * their `contents`, files that are `found` by their
   * name, `processes`.
   */
  loses: z.enum(['files', 'contents', 'found', 'processes']).optional(),
  match: z.array(commandPattern).min(1).max(listMax),
  unless: z.array(unlessToken).max(listMax).optional(),
});

const scriptRuleShape = z.strictObject({
  rule: text,
  languages: texts,
  pattern: text,
  flags: z.enum(['', 'i']).optional(),
  starts: z.boolean().optional(),
  /** It is looked for in texts too, not only in code. */
  in_text: z.boolean().optional(),
  /** It holds only where this stands somewhere in the script too: what it uses. */
  beside: regex.optional(),
  /** It does not hold where this stands in the same line, or in the one before. */
  unless: regex.optional(),
  /** Found besides, by the severities of their own. */
  also: z.array(signal).max(4).optional(),
  /** It does not hold of what the script has made itself: a temporary folder. */
  own: z.boolean().optional(),
  signal: signal.optional(),
  severity: severity.optional(),
  irreversible: z.boolean().optional(),
});

const wrapperShape = z.strictObject({
  match: z.array(commandPattern).max(listMax),
  valued: texts.optional(),
  skip: z.int().min(0).max(8).optional(),
  shell: texts.optional(),
  assignments: z.boolean().optional(),
  joined: z.boolean().optional(),
  appends: z.boolean().optional(),
  each: z.boolean().optional(),
  only_flags: z.boolean().optional(),
  until: texts.optional(),
  /** Flags whose value is a command only behind a beginning of it. */
  prefixed: z.record(text, text).optional(),
  /** What it is given on its input, or in a file, it starts later. */
  reads: z.enum(['shell', 'crontab']).optional(),
  remote: z.boolean().optional(),
  /** The text that it starts is fed with what nobody has read: an archive, a file, the other end. */
  feeds: z.boolean().optional(),
});

const interpreterShape = z.strictObject({
  language: text,
  programs: texts,
  code: texts,
  module: texts.optional(),
  valued: texts.optional(),
  words: texts.optional(),
  first_is_code: z.boolean().optional(),
  /** Words of which code may be made that is not read here. */
  pure: texts.optional(),
  extensions: texts,
});

const grammarShape = z.strictObject({
  leading: texts.optional(),
  valued: texts.optional(),
  single_dash: z.boolean().optional(),
});

const signalShape = z.strictObject({ severity, promote: z.array(promotion).max(2) });

const writesShape = z.strictObject({
  match: z.array(commandPattern).max(listMax),
  operands: z.enum(['all', 'last', 'rest', 'rest1', 'rest2', 'none', 'dd']),
  flags: texts.optional(),
  overwrites: z.boolean().optional(),
  /** What is in the file stays as it is. */
  keeps: z.boolean().optional(),
});

/** Files of the tree that a program runs besides what it is told. */
const loadsShape = z.strictObject({
  match: z.array(commandPattern).min(1).max(listMax),
  language: text,
  files: texts,
  /** Whose values are such files too. */
  flags: texts.optional(),
});

const clientShape = z.strictObject({
  programs: texts,
  flags: texts,
  files: texts,
  operands_after: z.int().min(0).max(4).optional(),
  words: texts.optional(),
});

const shape = z.strictObject({
  version: z.literal(1),
  signals: z.record(signal, signalShape),
  compound: z.int().min(2).max(16),
  on_expiry: z.enum(['halt', 'withdraw']),
  gate_expires: text.refine((value) => durationMs(value) !== undefined, 'is no duration, as 30m'),
  sizes: z.strictObject({ argument_chars: z.int().min(100).max(1_000_000) }),
  upstream: upstreamShape,
  programs: z.record(text, grammarShape),
  wrappers: z.array(wrapperShape).max(listMax),
  interpreters: z.array(interpreterShape).max(listMax),
  scripts: z.array(scriptRuleShape).max(listMax),
  variables: z.strictObject({
    commands: texts,
    loaders: texts,
    options: z.record(text, regex),
    weakens: z.record(text, regex),
    secret: regex,
  }),
  git_commands: z.array(regex).max(listMax),
  loads: z.array(loadsShape).max(listMax),
  environments: z.strictObject({
    ...{ production: texts, staging: texts, development: texts, test: texts },
    ...{ flags: texts, variables: texts },
  }),
  paths: z.strictObject({
    ...{
      secret: texts,
      public: texts,
      scratch: texts,
      configs: texts,
      startup: texts,
      data: texts,
    },
    ...{
      rebuildable: texts,
      expression_first: texts,
      words_only: texts,
      names_only: texts,
      reads: texts,
    },
    writes: z.array(writesShape).max(listMax),
  }),
  databases: z.strictObject({
    clients: z.array(clientShape).max(listMax),
    javascript: z.strictObject({ programs: texts, flags: texts, files: texts }),
    ...{ irreversible: texts, mutation: texts, security: texts, reads: texts },
    redis: z.strictObject({ programs: texts, irreversible: texts, security: texts, reads: texts }),
  }),
  http: z.strictObject({ clients: texts, human: z.array(regex).max(listMax) }),
  injection: z.array(regex).max(listMax),
  tasks: z.strictObject({ harmless: texts, risky: regex, launchers: texts }),
  rules: z.array(ruleShape).max(listMax),
  /** Commands that only say what they would do: nothing of theirs is lost or changed. */
  rehearsals: z.array(commandPattern).max(listMax),
  harmless: z.array(commandPattern).max(listMax),
});

/** Of an operator: rules and words are added, severities raised, entries of `harmless` taken away. */
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
  upstream: upstreamShape.optional(),
  scripts: shape.shape.scripts.optional(),
  variables: z.strictObject({ commands: texts.optional(), loaders: texts.optional() }).optional(),
  environments: shape.shape.environments.partial().optional(),
  paths: z
    .strictObject({
      ...{ secret: texts.optional(), configs: texts.optional(), startup: texts.optional() },
      rebuildable: texts.optional(),
      data: texts.optional(),
    })
    .optional(),
  http: z.strictObject({ human: z.array(regex).max(listMax).optional() }).optional(),
  injection: shape.shape.injection.optional(),
  rules: shape.shape.rules.optional(),
  /** Programs that are harmless no longer: names, or a program with a word. */
  not_harmless: z.array(commandPattern).max(listMax).optional(),
});

export type Policy = Readonly<z.infer<typeof shape>> & {
  readonly not_harmless: readonly string[];
};
export type OperatorPolicy = Readonly<z.infer<typeof operatorShape>>;
export type Rule = Policy['rules'][number];
export type ScriptRule = Policy['scripts'][number];
export type Wrapper = Policy['wrappers'][number];
export type Interpreter = Policy['interpreters'][number];
export type Loads = Policy['loads'][number];
export type Grammar = Policy['programs'][string];

/** The whole policy, of a text in YAML. Throws ATTENTION_POLICY_INVALID with the path of the field. */
export function parsePolicy(source: string, file: string): Policy {
  return { ...parsed(shape, source, file), not_harmless: [] };
}

/** An operator's additions. Throws ATTENTION_POLICY_INVALID with the path of the field. */
export function parseOperatorPolicy(source: string, file: string): OperatorPolicy {
  return parsed(operatorShape, source, file);
}

/** The stricter of both wins; nothing is ever relaxed but `rebuildable`, which an operator lists knowingly. */
export function mergePolicies(base: Policy, operator: OperatorPolicy): Policy {
  return {
    ...base,
    signals: mergedSignals(base.signals, operator.signals ?? {}),
    compound: Math.min(base.compound, operator.compound ?? base.compound),
    on_expiry: operator.on_expiry ?? base.on_expiry,
    gate_expires: operator.gate_expires ?? base.gate_expires,
    sizes: { ...base.sizes, ...defined(operator.sizes ?? {}) },
    upstream: { rules: [...base.upstream.rules, ...(operator.upstream?.rules ?? [])] },
    scripts: [...base.scripts, ...(operator.scripts ?? [])],
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

/** A rule of a name that is there adds its patterns to it, and may raise its severity: exceptions are never added. */
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

function defined<T extends object>(value: T): { [K in keyof T]: NonNullable<T[K]> } {
  const kept = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: NonNullable<T[K]> };
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
  quoteExpressions(document.contents);
  const answer = wanted.safeParse(document.toJS() ?? {});
  if (answer.success) return answer.data;
  const [issue] = answer.error.issues;
  throw invalid(file, issue?.path.map(String).join('.') ?? '', issue?.message ?? 'is not valid');
}

/** What looks like a number among words is a word: `777` of a list of patterns. */
function quoteExpressions(node: unknown): void {
  if (isMap(node)) for (const pair of node.items) if (isPair(pair)) quoteExpressions(pair.value);
  if (!isSeq(node)) return;
  for (const item of node.items) {
    if (isScalar(item) && typeof item.value !== 'string') item.value = item.source ?? '';
    else quoteExpressions(item);
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
