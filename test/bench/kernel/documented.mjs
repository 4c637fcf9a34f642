// Questions that the source itself provides: its kernel-doc comments say what a function does.
import { cFiles, shardOf } from './kernel-tree.mjs';

const kernelDoc = /^\/\*\*\n \* (\w+)(?:\(\))? - (\S.*)\n/gm;
const descriptionWordsMin = 3;
/** A definition follows its comment within this many lines. */
const definitionWithin = 3;

const phrasings = [
  ({ name }) => `What does ${name} do?`,
  ({ name }) => `Where is ${name} defined and who calls it?`,
  ({ description }) => `Which function is there to ${description}?`,
  ({ description, folder }) => `${description} in ${folder}`,
  ({ name, description }) => `Explain how ${name} works: ${description}`,
];

/**
 * `sets` disjoint lists of `count` documented functions each, evenly spread over the tree in order of their paths,
 * asked in different ways.
 */
export function documentedQuestions(root, source, { sets, count }) {
  const found = cFiles(root)
    .filter((file) => file.endsWith('.c'))
    .flatMap((file) => documentedIn(source, file));
  const names = new Set();
  const unique = found.filter(({ name }) => !names.has(name) && names.add(name));
  const step = Math.max(1, unique.length / (sets * count));
  return Array.from({ length: sets }, (_, set) =>
    Array.from({ length: count }, (_, at) => at)
      .filter((at) => Math.floor((at * sets + set) * step) < unique.length)
      .map((at) => {
        const item = unique[Math.floor((at * sets + set) * step)];
        const phrasing = at % phrasings.length;
        return { ...item, phrasing, question: phrasings[phrasing](item) };
      }),
  );
}

function documentedIn(source, file) {
  const raw = source.file(file)?.raw ?? [];
  return [...raw.join('\n').matchAll(kernelDoc)].flatMap(({ 1: name, 2: text, index }) => {
    let end = raw.join('\n').slice(0, index).split('\n').length;
    while (end < raw.length && !raw[end - 1].includes('*/')) end += 1;
    const lines = Array.from({ length: definitionWithin }, (_, at) => end + 1 + at);
    const line = lines.find((each) => source.definesAt(file, each, name) === 'function');
    const description = text.trim().replace(/\.$/, '');
    if (line === undefined || description.split(/\s+/).length < descriptionWordsMin) return [];
    const folder = file.slice(0, file.lastIndexOf('/'));
    return [{ name, description, folder, file, line, shard: shardOf(file) }];
  });
}
