import { createHash } from 'node:crypto';
import { foreignPrefix } from '../../base/prover.js';
import { foreignLimits } from './limits.js';
import { agentsService, bytesIn, isInstance, protocolVersion } from './protocol.js';
import { isAgentSubject } from './subjects.js';
import { isObject, objectIn, oneLine } from './words.js';

/** A foreign agent as it says that it is: data, never an instruction. */
export interface ForeignAgent {
  /** On our bus; it begins with `foreign-`, and is the same each time. */
  name: string;
  /** The program that it is an agent of. */
  agent: string;
  owner: string;
  session: string;
  description: string;
  metadata: Readonly<Record<string, string>>;
  /** Where it is asked. */
  subject: string;
  /** Of a request. */
  bytesMax: number;
}

interface Introduction {
  agent: ForeignAgent;
  /** The process that says so. */
  instance: string;
  /** Where it answers with a heartbeat. */
  status: string | undefined;
}

/** Of an agent on our bus. */
const nameCharsMax = 96;
const digestChars = 8;
const bytesMaxDefault = 64 * 1024;

/**
 * What an agent answers to INFO. Undefined: it is none of this version, or cannot be asked by us.
 */
export function foreignAgentIn(body: Uint8Array): Introduction | undefined {
  const { name, id, description, metadata, endpoints } =
    objectIn(body, foreignLimits.infoBytesMax) ?? {};
  if (name !== agentsService || typeof id !== 'string' || !isInstance(id)) return undefined;
  const its = wordsOf(metadata);
  const { agent = '', owner = '', session = '' } = its;
  const [version] = /^\d+\.\d+/.exec(its.protocol_version ?? '') ?? [];
  if (agent === '' || owner === '' || version !== protocolVersion) return undefined;
  const all = Array.isArray(endpoints) ? endpoints.filter(isObject) : [];
  const subjectOf = (verb: 'prompt' | 'status'): string | undefined => {
    const subject = all.find((each) => each.name === verb)?.subject;
    if (typeof subject !== 'string' || subject.length > foreignLimits.wordCharsMax)
      return undefined;
    return isAgentSubject(verb, subject) ? subject : undefined;
  };
  const prompt = all.find((each) => each.name === 'prompt');
  const subject = subjectOf('prompt');
  if (subject === undefined) return undefined;
  const { max_payload: size = '', min_sender_trust: trust = 'any' } = wordsOf(prompt?.metadata);
  if (trust !== 'any') return undefined;
  return {
    instance: id,
    status: subjectOf('status'),
    agent: {
      ...{ name: nameOf(subject, [agent, owner, session]), agent, owner, session, subject },
      description:
        typeof description === 'string'
          ? oneLine(description, foreignLimits.descriptionCharsMax)
          : '',
      ...{ metadata: its, bytesMax: bytesIn(size) ?? bytesMaxDefault },
    },
  };
}

/** Other values than texts are written as JSON: some agents say `true`. */
function wordsOf(metadata: unknown): Record<string, string> {
  if (!isObject(metadata)) return {};
  const kept = Object.entries(metadata).slice(0, foreignLimits.metadataMax);
  const word = (value: unknown): string =>
    oneLine(typeof value === 'string' ? value : JSON.stringify(value), foreignLimits.wordCharsMax);
  return Object.fromEntries(kept.map(([key, value]) => [word(key), word(value)]));
}

/** Of its tokens where they can only be of this subject, else with a digest of the subject. */
function nameOf(subject: string, said: readonly string[]): string {
  const [, , ...tokens] = subject.split('.');
  const isUsual = tokens.length === 3;
  const own = `${foreignPrefix}${(isUsual ? tokens : said).join('_')}`;
  const isPlain = tokens.every((each) => /^[a-z0-9-]*[a-z0-9]$/.test(each));
  if (isUsual && isPlain && own.length <= nameCharsMax) return own;
  const digest = createHash('sha256').update(subject).digest('hex').slice(0, digestChars);
  const plain = own.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
  return `${plain.slice(0, nameCharsMax - digestChars - 1)}_${digest}`;
}
