import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const files = {
  'NOTES.md': `# What customers say

- Whoever buys ten or more of one thing pays full price. Since spring that is promised to cost a tenth less.
- Nobody minds the receipts.
`,
  'README.md': `# shop

\`priceOf\` in \`src/price.js\` is the price of one line of an order, in cents.
`,
  'src/price.js': `/** From this quantity on a line is cheaper. */
export const BULK_FROM = 10;

/** The price of one line of an order, in cents. */
export function priceOf(item, quantity) {
  return item.cents * quantity;
}
`,
  'src/order.js': `import { priceOf } from './price.js';

/** The sum of all lines of an order, in cents. */
export function totalOf(order) {
  return order.lines.reduce((sum, { item, quantity }) => sum + priceOf(item, quantity), 0);
}
`,
  'src/receipt.js': `import { totalOf } from './order.js';

/** What is printed for the customer. */
export function receiptOf(order) {
  return \`Total: \${(totalOf(order) / 100).toFixed(2)}\`;
}
`,
  'build/old/shop.js': '// Of an earlier release.\n',
};

/** A shop in JavaScript, as a work tree of git whose \`origin\` lies beside it. */
export function shopIn(folder) {
  const root = path.join(folder, 'shop');
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const origin = path.join(folder, 'origin.git');
  git(folder, 'init', '-q', '--bare', origin);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '.');
  git(root, '-c', 'user.name=Ann', '-c', 'user.email=ann@localhost', 'commit', '-qm', 'The shop');
  git(root, 'remote', 'add', 'origin', origin);
  git(root, 'push', '-q', 'origin', 'main');
  return { root, origin };
}

export function git(cwd, ...args) {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}
