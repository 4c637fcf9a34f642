import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A small tree of C, enough to ask about. */
export function treeIn(root) {
  mkdirSync(root, { recursive: true });
  for (let at = 0; at < 24; at += 1) {
    const calls = at === 0 ? '' : `\n\tpart_${at - 1}_start(device);`;
    writeFileSync(
      path.join(root, `part_${at}.c`),
      `/** part_${at}_start() - starts part ${at} of the device */\nint part_${at}_start(struct device *device)\n{${calls}\n\treturn 0;\n}\n`,
    );
  }
  return root;
}
