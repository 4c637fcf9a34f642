import type { Arguments } from './command-pattern.js';
import { inputOf, word, type Examination, type Spot } from './examination.js';
import { scanScript } from './script-scan.js';
import type { Word } from './shell.js';
import { sqlRisks } from './sql.js';

/** What is asked of a database, in whichever way its client takes it. */

/** A host that is not this machine: what is destroyed there is not only one's own. */
function isElsewhere(given: Arguments): boolean {
  const hosts = ['-h', '--host'].flatMap((flag) => given.flags.get(flag) ?? []);
  const urls = [...given.operands.slice(1), ...given.values].filter(({ text }) =>
    /^\w+:\/\//.test(text),
  );
  const named = urls.map(({ text }) => /:\/\/(?:[^@/]{0,400}@)?([^:/?]*)/.exec(text)?.[1] ?? '');
  return [...hosts, ...named].some(
    (host) => host !== '' && !/^(?:localhost|127\.|0\.0\.0\.0|\[?::1|\/)/.test(host),
  );
}

const reachesFile =
  /\b(?:ATTACH|COPY|EXPORT|INSTALL|LOAD|READFILE|WRITEFILE|LOAD_EXTENSION|EDIT|FTS3_TOKENIZER)\b|\bVACUUM\b[^;]{0,200}\bINTO\b/i;

/** `sqlite3 :memory:`, `duckdb` without a file. */
function isInMemory(given: Arguments, program: string): boolean {
  const [, first] = given.operands;
  if (!['sqlite3', 'sqlite', 'duckdb'].includes(program)) return false;
  return first?.isStatic === true ? first.text === ':memory:' : first === undefined;
}

export async function databaseEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const before = exam.drafts.length;
  await statementEffects(words, given, exam, spot);
  const isDestroying = exam.drafts.slice(before).some(({ isIrreversible }) => isIrreversible);
  if (isDestroying && (spot.remote || isElsewhere(given)))
    exam.found({
      ...{ signal: 'ExternalMutation', rule: 'database-elsewhere', words, spot },
      says: 'changes a database on another machine',
    });
}

async function statementEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const program = given.operands[0]?.text ?? '';
  const { clients, javascript, redis } = exam.policy.databases;
  if (redis.programs.includes(program)) return await redisEffects(words, given, exam, spot);
  if (javascript.programs.includes(program)) {
    const texts = await textsOf(words, given, { ...javascript, program }, exam, spot);
    for (const text of texts) scanScript(text, 'javascript', exam, spot);
    return;
  }
  const client = clients.find(({ programs }) => programs.includes(program));
  if (client === undefined) return;
  for (const text of await textsOf(words, given, { ...client, program }, exam, spot)) {
    if (!exam.spend('chars', text.length)) return;
    for (const risk of sqlRisks(text, exam.policy.databases)) {
      // What is only in memory is gone with the program; files are reached by its own commands and by ATTACH.
      if (isInMemory(given, program) && risk.rule !== 'database-shell' && !reachesFile.test(text))
        continue;
      const { signal, irreversible, rule, statement } = risk;
      const shown = [words[0] ?? word(program), word(statement.replace(/\s+/g, ' '))];
      const target = given.operands
        .slice(1)
        .map((each) => each.text)
        .join(' ');
      exam.found({ signal, irreversible, rule, words: shown, spot, tool: program, target });
      for (const each of words) if (!/\s/.test(each.text)) exam.words.add(each.text);
    }
  }
}

interface Client {
  program: string;
  flags: readonly string[];
  files: readonly string[];
  operands_after?: number | undefined;
}

async function textsOf(
  words: readonly Word[],
  given: Arguments,
  client: Client,
  exam: Examination,
  spot: Spot,
): Promise<string[]> {
  const texts = client.flags.flatMap((flag) => given.flags.get(flag) ?? []);
  if (client.operands_after !== undefined)
    texts.push(...given.operands.slice(1 + client.operands_after).map(({ text }) => text));
  const files = client.files.flatMap((flag) => given.flags.get(flag) ?? []);
  if (client.program.startsWith('mongo'))
    files.push(
      ...given.operands.slice(1).flatMap(({ text }) => (/\.m?js$/.test(text) ? [text] : [])),
    );
  for (const file of files) {
    if (texts.includes(file)) continue;
    const text = await exam.read(word(file), spot);
    if (text !== undefined) texts.push(text);
    else if (isToldLater(file, exam, spot)) exam.step(`${file} is read where it can be`);
    else exam.opaque('hidden-statements', words, spot, 'its statements cannot be read');
  }
  const input = await inputOf(spot, exam);
  if (input.kind === 'text') texts.push(input.text);
  else if (input.kind === 'unknown' && texts.length === 0 && !isInputToldLater(exam, spot))
    exam.opaque('hidden-statements', words, spot, 'its statements are told only when it runs');
  return texts;
}

function isToldLater(file: string, exam: Examination, spot: Spot): boolean {
  const place = exam.place(file, spot);
  return exam.inspector === undefined && !spot.remote && place.kind === 'inside';
}

function isInputToldLater(exam: Examination, spot: Spot): boolean {
  return spot.input.kind === 'file' && isToldLater(spot.input.path.text, exam, spot);
}

async function redisEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  if (given.flags.has('--eval'))
    exam.opaque('hidden-statements', words, spot, 'a script that the server runs');
  const lines: string[] = [];
  const operands = given.operands.slice(1);
  if (operands.length > 0) lines.push(operands.map(({ text }) => text).join(' '));
  else {
    const input = await inputOf(spot, exam);
    if (input.kind === 'text') lines.push(...input.text.split('\n'));
    else if (input.kind === 'unknown')
      exam.opaque('hidden-statements', words, spot, 'its commands are told only when it runs');
  }
  for (const line of lines) redisLine(line.trim(), words, given, exam, spot);
}

function redisLine(
  line: string,
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): void {
  const { irreversible, security, reads } = exam.policy.databases.redis;
  const [keyword = '', target = ''] = line.split(/\s+/);
  const name = keyword.toUpperCase();
  if (name === '' || name.startsWith('#')) return;
  if (reads.includes(name)) return;
  const shown = given.operands.length > 1 ? words : [...words, word(line)];
  const tool = `${given.operands[0]?.text ?? ''} ${name}`;
  if (irreversible.includes(name))
    return exam.found({
      ...{ signal: 'Irreversibility', rule: 'redis-destroys', words: shown, spot, tool, target },
    });
  const isSecurity = security.includes(name) && !/^CONFIG\s+GET\b/i.test(line);
  if (security.includes(name) && !isSecurity) return;
  const signal = isSecurity ? 'SecurityBoundary' : 'ExternalMutation';
  exam.found({ signal, rule: 'redis-writes', words: shown, spot, tool, target });
}
