import { createHash } from 'node:crypto';
import { canonicalJson } from './digest.js';
import {
  attentionLimits,
  signals,
  unknownEnvironment,
  type Classification,
  type Finding,
  type Signal,
} from './shapes.js';

/**
 * The words in which an agent says that it stopped: `GATE_DETECTED: true` with Signal, Evidence, Action, Tasks_Completed and
 * Tasks_Remaining, or with the first two alone (both forms of the attention protocol, "Stop-as-Gate" and "Gate prompt
 * injection"). A block is a stop and never a permission; one that cannot be read is a stop as well.
 */
export interface GateBlock {
  /** None: the block does not say it, or not in words of the taxonomy. */
  signals: Signal[];
  evidence: string;
  action: string;
  completed: string;
  remaining: string;
  /** Why it cannot be relied upon; empty: it is whole. */
  flaw: string;
}

/** Of what a block may be spread over. */
const blockLinesMax = 200;
/** Of the flaw, which stands before the evidence. */
const flawChars = 200;

const fields = ['signal', 'evidence', 'action', 'tasks_completed', 'tasks_remaining'] as const;
type Field = (typeof fields)[number];

/** What marks down or numbers a line, before its first word. */
const decoration = String.raw`[\s>*_#\-+\x60|"'•]*(?:\d+[.)]\s*)?[\s*_\x60"']*`;
const head = new RegExp(String.raw`^${decoration}GATE[_ ]DETECTED(?![\w])(.*)$`, 'i');
const anywhere = /GATE[_ ]DETECTED[\s"'*_`\\]*[:=][\s"'*_`\\]*true/i;
const field = new RegExp(
  String.raw`^${decoration}(Signal|Evidence|Action|Tasks[_ ]Completed|Tasks[_ ]Remaining)s?[\s*_\x60"']*[:=](.*)$`,
  'i',
);

export interface Quoted {
  /** Texts that it was given and may repeat: what stands in them is not its own word. */
  given: readonly string[];
  /** Between two lines of this, data was quoted to it; empty: none was. */
  mark: string;
}

/** What an agent printed. Undefined: it does not say that it stopped. */
export function gateIn(output: string, { given, mark }: Quoted): GateBlock | undefined {
  const own = ownWords(output.replace(/\r\n?/g, '\n'), given, mark);
  const found = blockIn(own.split('\n'));
  if (found !== undefined) return inItsWords(found, own);
  if (!anywhere.test(own)) return undefined;
  // In a line of JSON, or in a sentence.
  const lines = own.replace(/\\r|\\n/g, '\n').replaceAll('\\"', '"');
  const again = blockIn(lines.replace(/GATE[_ ]DETECTED/gi, '\n$&').split('\n'));
  return again === undefined
    ? flawed(own, 'it stands on no line of its own')
    : inItsWords(again, own);
}

/** One of which a part was lost: whether it stopped is not known, hence it did. */
export function lostGate(): GateBlock {
  return flawed('', 'it stands in output that was cut');
}

/** Who answers with JSON that it stopped, in these texts or without any. */
export function statedGate(texts: readonly string[], quoted: Quoted): GateBlock {
  const text = texts.filter((each) => each !== '').join('\n');
  const found = gateIn(text, quoted);
  if (found !== undefined) return found;
  const block = blockIn(['GATE_DETECTED: true', ...text.split('\n')]);
  return block === undefined ? flawed(text, 'it says no more') : inItsWords(block, text);
}

/**
 * What a person judges: the action is known by the words of the agent alone, hence these are its digest, together with the
 * task. Where it has its effect is not known: an approval is never remembered.
 */
export function reportedBy(task: string, program: string, block: GateBlock): Classification {
  const findings = findingsOf(block);
  return {
    level: 'Elevated',
    findings,
    intensity: findings.length > 1 || isInjected(findings) ? 'heavy' : 'medium',
    pattern: {
      tool: program,
      target: cut(block.action, attentionLimits.descriptionChars),
      environment: unknownEnvironment,
      signals: signals.filter((each) => findings.some(({ signal }) => signal === each)),
    },
    is_cacheable: false,
    digest: { action: reportDigest(task, findings), files: {} },
    description: cut(block.action || block.evidence, attentionLimits.descriptionChars),
  };
}

/** SHA-256 of the task, the signals, the evidence and the action, as a person was shown them. */
export function reportDigest(task: string, findings: readonly Finding[]): string {
  const shown = findings.map(({ signal, evidence, action_description }) => ({
    ...{ signal, evidence, action_description },
  }));
  return createHash('sha256').update(canonicalJson({ task, shown })).digest('hex');
}

/** Rules that mark findings of an agent, as opposed to those of the policy. */
export const reportRule = 'reported-by-agent';
export const flawRule = 'unreadable-report';

/** What an agent said itself, of all that was found. */
export function reportedIn({ findings }: Pick<Classification, 'findings'>): Finding[] {
  return findings.filter(({ rule }) => rule === reportRule || rule === flawRule);
}

function findingsOf({ signals: named, evidence, action, flaw }: GateBlock): Finding[] {
  const { evidenceChars, descriptionChars } = attentionLimits;
  const shared = {
    severity: 'Gate' as const,
    action_description: cut(action, descriptionChars),
    file: '',
  };
  if (flaw === '')
    return named.map((signal) => ({
      ...{ ...shared, signal, evidence: cut(evidence, evidenceChars), rule: reportRule },
    }));
  const why = `the agent stopped, but not in readable words: ${cut(flaw, flawChars)}`;
  const said = cut(evidence === '' ? why : `${why}: ${evidence}`, evidenceChars);
  return [{ ...shared, signal: 'Emergent', evidence: said, rule: flawRule }];
}

function isInjected(findings: readonly Finding[]): boolean {
  return findings.some(({ signal }) => signal === 'PromptInjection');
}

/** Without what was given to it, and without quoted data: an order in either is not the agent's own. */
function ownWords(output: string, given: readonly string[], mark: string): string {
  let own = output;
  for (const each of given.map((text) => text.replace(/\r\n?/g, '\n').trim()))
    if (each !== '') own = own.split(each).join('\n');
  if (mark === '') return own;
  const kept: string[] = [];
  let quoted: string[] | undefined;
  for (const line of own.split('\n')) {
    if (line.trim() === mark) quoted = quoted === undefined ? [] : undefined;
    else (quoted ?? kept).push(line);
  }
  // A quotation that does not end is none: what follows may be its own.
  return [...kept, ...(quoted ?? [])].join('\n');
}

/** The first block that is not denied. */
function blockIn(lines: readonly string[]): GateBlock | undefined {
  for (const [at, line] of lines.entries()) {
    const [, rest] = head.exec(line) ?? [];
    if (rest === undefined) continue;
    const stated = /^[\s*_`"']*[:=](.*)$/.exec(rest)?.[1];
    // A sentence that begins with the word says nothing of itself.
    if (stated === undefined && plain(rest) !== '') continue;
    const value = plain(stated ?? '').toLowerCase();
    if (value === 'false' || value === 'no') continue;
    const values = valuesAround(lines, at);
    return blockOf(
      values,
      value === 'true' || value === 'yes' ? '' : `GATE_DETECTED is "${value}"`,
    );
  }
  return undefined;
}

/** The fields behind the head, in any order, with their further lines; else those right before it. */
function valuesAround(lines: readonly string[], at: number): Map<Field, string> {
  const values = new Map<Field, string>();
  for (let above = at - 1; above >= 0 && at - above <= fields.length; above -= 1) {
    const found = fieldIn(lines[above] ?? '');
    if (found === undefined) break;
    if (!values.has(found.name)) values.set(found.name, found.value);
  }
  let last: Field | undefined;
  for (const line of lines.slice(at + 1, at + 1 + blockLinesMax)) {
    const found = fieldIn(line);
    if (found !== undefined) {
      // Another block begins.
      if (values.has(found.name)) break;
      last = found.name;
      values.set(last, found.value);
    } else if (/^\s*(```|~~~|[}\]],?)?\s*$/.test(line)) last = undefined;
    else if (last !== undefined && !head.test(line))
      values.set(last, `${values.get(last) ?? ''}\n${line.trim()}`.trim());
    else break;
  }
  return values;
}

function fieldIn(line: string): { name: Field; value: string } | undefined {
  const [, name = '', value = ''] = field.exec(line) ?? [];
  const known = fields.find((each) => each === name.toLowerCase().replace(' ', '_'));
  return known && { name: known, value: plain(value) };
}

function blockOf(values: ReadonlyMap<Field, string>, flaw: string): GateBlock {
  const of = (name: Field): string => values.get(name) ?? '';
  const named = of('signal')
    .split(/[|,/;&]|\band\b/i)
    .map(plain)
    .filter((each) => each !== '');
  const known = named.map(signalOf);
  const unknown = named.filter((_, at) => known[at] === undefined);
  const flaws = [
    flaw,
    named.length === 0 ? 'it names no Signal' : '',
    unknown.length > 0 ? `no such Signal: ${unknown.join(', ')}` : '',
    of('evidence') === '' ? 'it gives no Evidence' : '',
  ];
  return {
    signals: signals.filter((each) => known.includes(each)),
    evidence: of('evidence'),
    action: of('action'),
    completed: of('tasks_completed'),
    remaining: of('tasks_remaining'),
    flaw: flaws.filter((each) => each !== '').join('; '),
  };
}

function signalOf(text: string): Signal | undefined {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '');
  return signals.find((each) => each.toLowerCase() === letters);
}

function flawed(text: string, flaw: string): GateBlock {
  const evidence = wordsIn(text);
  return { signals: [], evidence, action: '', completed: '', remaining: '', flaw };
}

/** A stop that says neither why nor before what is judged by the words in which it stands. */
function inItsWords(block: GateBlock, text: string): GateBlock {
  const isMute = block.evidence === '' && block.action === '';
  return isMute ? { ...block, evidence: wordsIn(text) } : block;
}

function wordsIn(text: string): string {
  const at = text.search(/GATE[_ ]DETECTED/i);
  return plain(at < 0 ? text : text.slice(at)).replace(/\s+/g, ' ');
}

/** Without the brackets of the form, and without quotation marks. */
function plain(text: string): string {
  return text
    .trim()
    .replace(/^[\s*_`"'[]+|[\s*_`"'\],]+$/g, '')
    .trim();
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}
