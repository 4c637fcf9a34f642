import type {
  CallFact,
  FactsLanguage,
  FileFacts,
  SymbolFact,
} from '../../../src/pgc/format/facts.js';
import { Miner } from '../../../src/pgc/mine/mine.js';

/** One miner for all tests of a file: loading a grammar takes longer than using it. */
const miner = new Miner();

export function mined(language: FactsLanguage, source: string | Uint8Array): Promise<FileFacts> {
  return miner.mine(language, typeof source === 'string' ? Buffer.from(source) : source);
}

/** The symbol of this name; the only one, or a failure. */
export function symbolOf(facts: FileFacts, name: string): SymbolFact {
  const found = facts.symbols.filter((each) => each.name === name);
  if (found[0] === undefined || found.length > 1) {
    throw new Error(`${found.length} symbols are called ${name}`);
  }
  return found[0];
}

/** `caller → receiver.callee (kind)`, in order of the text. */
export function callsOf(facts: FileFacts): string[] {
  return facts.calls.map((call: CallFact) => {
    const caller = call.caller === 0 ? '-' : facts.symbols[call.caller - 1]?.name;
    const receiver = call.receiver === '' ? '' : `${call.receiver}.`;
    return `${caller} → ${receiver}${call.callee} (${call.kind})`;
  });
}

/** Words of the document of a symbol, or of the rest of the file, with their counts. */
export function wordsIn(facts: FileFacts, name: string | undefined): Record<string, number> {
  const at =
    name === undefined
      ? facts.symbols.length
      : facts.symbols.findIndex((each) => each.name === name);
  const document = facts.documents[at];
  if (document === undefined) throw new Error(`no document of ${name}`);
  const entries = document.word.map((word, i): [string, number] => [
    facts.words[word] ?? '',
    document.count[i] ?? 0,
  ]);
  return Object.fromEntries(entries);
}
