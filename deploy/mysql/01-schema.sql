-- The hotel services' tables. Run once in an empty database; serai-hotel-admin also runs it where tables are missing.

SET NAMES utf8mb4;

CREATE TABLE IF NOT EXISTS tb_hotel (
  id        bigint       NOT NULL COMMENT 'supplied by the caller',
  name      varchar(255) NOT NULL,
  address   varchar(255) NOT NULL,
  price     int          NOT NULL,
  score     int          NOT NULL COMMENT 'in tenths: 45 is 4.5',
  brand     varchar(32)  NOT NULL,
  city      varchar(32)  NOT NULL,
  star_name varchar(16)  NULL     COMMENT '1 to 5 stars or 1 to 5 diamonds',
  business  varchar(255) NULL     COMMENT 'districts, separated by /',
  latitude  varchar(32)  NOT NULL,
  longitude varchar(32)  NOT NULL,
  pic       varchar(255) NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Changes that the message broker has not confirmed yet, written in the change's own transaction.
CREATE TABLE IF NOT EXISTS tb_hotel_outbox (
  seq        bigint       NOT NULL AUTO_INCREMENT,
  hotel_id   bigint       NOT NULL,
  event      varchar(16)  NOT NULL COMMENT 'insert (added or changed) or delete',
  created_at timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
