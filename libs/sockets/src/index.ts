export { socketsSettings } from './sockets.config.js';
export { SocketsModule } from './sockets.module.js';
