// Changes files of a folder until it is ended: node changing-files.mjs FOLDER FILES rewrite|truncate|replace|grow
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

const functionsMax = 400;
/** Not without end, for whoever runs this has one disk. */
const grownBytesMax = 64 * 1024 * 1024;
const [, , folder, files, how] = process.argv;
const changes = {
  rewrite: (file, round) => writeFileSync(placeOf(file), textOf(file, round)),
  truncate: (file, round) => {
    writeFileSync(placeOf(file), textOf(file, round));
    truncateSync(placeOf(file), (file * 1_009 + round * 97) % 2_000);
  },
  replace: (file, round) => {
    rmSync(placeOf(file), { force: true });
    const beside = `${placeOf(file)}.new`;
    writeFileSync(beside, textOf(file, round));
    if (round % 3 !== 0) renameSync(beside, placeOf(file));
  },
  grow: (file, round) => {
    const more = textOf(file, round);
    grown += more.length;
    if (grown < grownBytesMax) appendFileSync(placeOf(0), more);
  },
};
let isEnded = false;
let grown = 0;

process.once('SIGTERM', () => {
  isEnded = true;
});
mkdirSync(folder, { recursive: true });
for (let file = 0; file < Number(files); file += 1) writeFileSync(placeOf(file), textOf(file, 0));
process.stdout.write('ready\n');
for (let round = 1; !isEnded; round += 1) {
  for (let file = 0; file < Number(files); file += 1) changes[how](file, round);
  await turn();
}

function placeOf(file) {
  return path.join(folder, `m${file}.c`);
}

function textOf(file, round) {
  const count = 1 + ((file * 31 + round * 17) % functionsMax);
  const one = (at) =>
    `int moving_${file}_${round}_${at}(int a)\n{\n\treturn sentinel_count(a);\n}\n`;
  return Array.from({ length: count }, (_, at) => one(at)).join('');
}
