import { storeContract } from '../../contract/store.js';
import { openTestStore } from '../../support/store.js';

storeContract('LevelDB', openTestStore);
