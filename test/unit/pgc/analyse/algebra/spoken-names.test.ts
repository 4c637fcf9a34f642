import { expect, test } from 'vitest';
import { spokenNames } from '../../../../../src/pgc/analyse/algebra/spoken-names.js';

test.each([
  ['call free() before', ['free']],
  ['the `page` of a `struct folio`', ['page', 'folio']],
  ['use ``kmalloc(size, flags)`` here', ['kmalloc']],
  ['kfree_skb, or netifRx: both. __free too; HZ is none', ['kfree_skb', 'netifRx', '__free']],
  ['see mm/page_alloc.c and Documentation/core-api/dma_api.rst', []],
  ['`two words` and `a` and x() are none', []],
  ['ends with put_page.', ['put_page']],
  ['obj.set_value() and ptr->next_one and user_name@example.org', []],
  ['handle_* is a family, and pin_user_pages*() its first one', ['pin_user_pages']],
])('%s', (text, names) => {
  expect([...spokenNames(text)].sort()).toEqual([...names].sort());
});
