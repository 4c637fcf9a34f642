import type { LocateAnswer, LocatedFile } from '../pgc/search/locate/locate.js';
import { roleNote } from '../pgc/answer/evidence-line.js';
import { printable } from './terminal.js';

export function renderLocated(answer: LocateAnswer): string {
  const { files, shards, agents_asked, elapsed_ms, warnings, errors } = answer;
  const of = shards.length === 1 ? '' : ` · files of ${shards.length} shards`;
  return [
    ...(files.length === 0 ? ['Nothing here is about this report.'] : files.map(renderFile)),
    '',
    `${files.length} files${of} · ${agents_asked} asked · ${Math.round(elapsed_ms)} ms · scores order the files of this report only`,
    ...warnings.map((warning) => `note: ${warning}`),
    ...errors.map(({ agent, text }) => `missing: ${printable(agent)}: ${printable(text)}`),
  ].join('\n');
}

function renderFile({ path, score, evidence, role }: LocatedFile, at: number): string {
  const told = evidence.map(({ kind, text, line }) => {
    const place = line === undefined ? '' : ` :${line}`;
    return `${kind}${place} ${printable(text)}`;
  });
  const head = `${String(at + 1).padStart(2)}. ${printable(path)}${roleNote({ role })}  ${score.toFixed(2)}`;
  return told.length === 0 ? head : `${head}\n    ${told.join(' · ')}`;
}
