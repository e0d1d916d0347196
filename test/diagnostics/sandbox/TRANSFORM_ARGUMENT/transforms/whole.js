import { shape } from './shape.js';

export default (context) => shape(context);
