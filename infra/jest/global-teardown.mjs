import { stopServer } from './global-setup.mjs';

export default stopServer;
