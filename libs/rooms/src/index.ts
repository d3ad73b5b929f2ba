export { RoomsModule } from './rooms.module.js';
export { RoomsService } from './rooms.service.js';
export type { RoomAccess } from './sql/get-room-access.js';
