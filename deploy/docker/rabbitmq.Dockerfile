# RabbitMQ with its management page from Debian's packages, in the place of the official image: the same variables for the first user.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends rabbitmq-server && rm -rf /var/lib/apt/lists/* \
 && echo '[rabbitmq_management].' >/etc/rabbitmq/enabled_plugins
COPY rabbitmq-start /usr/local/bin/
USER rabbitmq
ENV HOME=/var/lib/rabbitmq
VOLUME /var/lib/rabbitmq
EXPOSE 5672 15672
CMD ["rabbitmq-start"]
