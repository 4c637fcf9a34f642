import { expect, test } from 'vitest';
import { rolesOf } from '../../../../../src/pgc/search/question/sentence-roles.js';

test.each([
  ['How does the e1000 driver allocate DMA buffers', 'sssssAoo'],
  ['How does the read cache drop old pages', 'sssssAoo'],
  ['How are citations verified against the tree', 'oooAooo'],
  ['How is a frame sent', 'ooooA'],
  ['Where is tcp_sendmsg defined', '....'],
  ['Who calls the allocator', '....'],
  ['How does it', '...'],
  ['', ''],
])('%s', (sentence, roles) => {
  const words = sentence.split(' ').filter((word) => word !== '');
  const letters = { subject: 's', act: 'A', object: 'o' };
  expect(
    rolesOf(words)
      .map((role) => (role === undefined ? '.' : letters[role]))
      .join(''),
  ).toBe(roles);
});
