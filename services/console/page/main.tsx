import { render } from 'preact';
import { App } from './app.js';
import { signIn } from './call.js';
import { readAddress } from './route.js';
import './style.css';
import './frame.css';
import './parts/parts.css';
import './narrow.css';

readAddress();
window.addEventListener('popstate', readAddress);
void signIn();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
